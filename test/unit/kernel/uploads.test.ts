import { describe, expect, it } from "vitest";
import { Uploads } from "../../../src/kernel/pace/uploads.ts";

describe("bodies of costly requests", () => {
  it("have so many bytes together, and not one more", () => {
    const uploads = new Uploads(() => 0, { bytes: 100 });
    const [one, two] = [uploads.start(), uploads.start()];
    expect(one.hold(60)).toBe(true);
    expect(two.hold(40)).toBe(true);
    expect(two.hold(1)).toBe(false);
    one.end();
    expect(two.hold(59)).toBe(true);
    expect(two.hold(1)).toBe(false);
  });

  it("are forgotten after a time if their requests never ended", () => {
    let now = 0;
    const uploads = new Uploads(() => now, { bytes: 100, abandonedAfterMs: 1_000 });
    uploads.start().hold(100);
    now = 1_000;
    expect(uploads.start().hold(1)).toBe(false);
    now = 1_001;
    expect(uploads.start().hold(99)).toBe(true);
  });
});
