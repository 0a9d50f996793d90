import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { verifyGithub } from "../../../src/webhooks/github.ts";
import { describeFixture, readJson } from "../../support/fixtures.ts";

const body = Buffer.from('{"action":"published"}');
const signature = (secret: string, payload: Uint8Array = body) =>
  `sha256=${createHmac("sha256", secret).update(payload).digest("hex")}`;

/** "valid", or why not. */
async function verdict(header: string | undefined, secrets: string[], payload: Uint8Array = body) {
  const headers = new Headers(header === undefined ? {} : { "X-Hub-Signature-256": header });
  const result = await verifyGithub({ headers, body: payload }, secrets);
  return result.ok ? "valid" : result.error;
}

describeFixture("GitHub's published vector", "security/standard-webhooks/github-vector.json", (location) => {
  const vector = readJson(location) as { secret: string; payload: string; "X-Hub-Signature-256": string };

  it("verifies", async () => {
    expect(await verdict(vector["X-Hub-Signature-256"], [vector.secret], Buffer.from(vector.payload))).toBe("valid");
  });

  it("does not with another body or secret", async () => {
    expect(await verdict(vector["X-Hub-Signature-256"], [vector.secret], Buffer.from("Hello, World"))).toBe(
      "unmatched",
    );
    expect(await verdict(vector["X-Hub-Signature-256"], ["another"], Buffer.from(vector.payload))).toBe("unmatched");
  });
});

describe("X-Hub-Signature-256", () => {
  it("covers the bytes of the body, also where they are no text", async () => {
    const payload = Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0x7d]);
    expect(await verdict(signature("s3cret", payload), ["s3cret"], payload)).toBe("valid");
    expect(await verdict(signature("s3cret", Buffer.alloc(0)), ["s3cret"], Buffer.alloc(0))).toBe("valid");
  });

  it("may fit any secret while one is being replaced", async () => {
    expect(await verdict(signature("old"), ["new", "old"])).toBe("valid");
    expect(await verdict(signature("new"), ["new", "old"])).toBe("valid");
    expect(await verdict(signature("older"), ["new", "old"])).toBe("unmatched");
  });

  it("never fits an empty secret, nor no secret", async () => {
    expect(await verdict(signature(""), [""])).toBe("unmatched");
    expect(await verdict(signature(""), [])).toBe("unmatched");
  });

  it.each([
    [undefined, "header-missing"],
    ["", "header-missing"],
    ["sha256=", "signature-header"],
    [signature("s3cret").toUpperCase(), "signature-header"],
    [signature("s3cret").slice(0, -2), "signature-header"],
    [`${signature("s3cret")}00`, "signature-header"],
    [signature("s3cret").replace("sha256", "sha1"), "signature-header"],
    [signature("s3cret").slice("sha256=".length), "signature-header"],
    [`${signature("other")}, ${signature("s3cret")}`, "signature-header"],
  ])("written as %j is refused: %s", async (header, expected) => {
    expect(await verdict(header, ["s3cret"])).toBe(expected);
  });
});
