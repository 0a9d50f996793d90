import { describe, expect, it } from "vitest";
import { Uploads } from "../../../src/kernel/pace/uploads.ts";

describe("bodies of costly requests", () => {
  const limits = { bytes: 90, sharedBytes: 60, smallBytes: 0 };

  it("have so many bytes together, and not one more", () => {
    const uploads = new Uploads(() => 0, limits);
    const [one, two, three] = ["a", "b", "c"].map((caller) => uploads.start(caller));
    expect(one?.hold(30)).toBe(true);
    expect(two?.hold(30)).toBe(true);
    expect(three?.hold(30)).toBe(true);
    expect(three?.hold(1)).toBe(false);
    one?.end();
    expect(uploads.start("d").hold(20)).toBe(true);
  });

  it("leave room for others, however many one caller sends", () => {
    const uploads = new Uploads(() => 0, limits);
    const slow = Array.from({ length: 6 }, () => uploads.start("a"));
    for (const upload of slow) expect(upload.hold(10)).toBe(true);
    expect(uploads.start("a").hold(1)).toBe(false);
    const other = uploads.start("b");
    expect(other.hold(29)).toBe(true);
    expect(slow[0]?.hold(1)).toBe(false);
    expect(other.hold(1)).toBe(false);
  });

  it("always have room if they are small", () => {
    const uploads = new Uploads(() => 0, { ...limits, smallBytes: 5 });
    expect(uploads.start("a").hold(60)).toBe(true);
    expect(uploads.start("b").hold(30)).toBe(true);
    const small = uploads.start("a");
    expect(small.hold(5)).toBe(true);
    expect(small.hold(1)).toBe(false);
  });

  it("are forgotten after a time if their requests never ended", () => {
    let now = 0;
    const uploads = new Uploads(() => now, { ...limits, abandonedAfterMs: 1_000 });
    uploads.start("a").hold(60);
    now = 1_000;
    expect(uploads.start("a").hold(1)).toBe(false);
    now = 1_001;
    expect(uploads.start("a").hold(59)).toBe(true);
  });
});
