import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { compatibilityDate } from "../../../src/kernel/version.ts";

describe("what the registry says of its runtime", () => {
  it("is what it is deployed with", () => {
    const toml = readFileSync(join(import.meta.dirname, "../../../wrangler.toml"), "utf8");
    expect(toml).toContain(`compatibility_date = "${compatibilityDate}"`);
  });
});
