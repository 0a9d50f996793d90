import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { withoutNativeTraces, withoutSubject } from "../../../scripts/runtime-log.ts";

const lookup = [
  "workerd/io/io-context.c++:442: error: e = kj/async-io-unix.c++:1293: failed: DNS lookup failed.; params.host = mcp.example.com; gai_strerror(status) = Name or service not known",
  "stack: /project/workerd@53fab6e /project/workerd@53fb660",
  "workerd/jsg/util.c++:374: error: e = kj/async-io-unix.c++:1293: failed: DNS lookup failed.; params.host = mcp.example.com",
  "stack: /project/workerd@53fab6e",
];
const refused = [
  "workerd/io/io-context.c++:442: error: e = kj/async-io-unix.c++:1000: disconnected: connect(): Connection refused",
  "stack: /project/workerd@1",
];
const crash = ["workerd/server/server.c++:10: error: failed: something else broke", "stack: /project/workerd@2"];
const write = '{"event":"write","subject":"demo-loader","status":201}';
const failed = '{"event":"write","subject":"demo-loader","status":422}';
const theirs = '{"event":"write","subject":"developer","status":201}';

/** Cut anywhere, as pipes do. */
function pieces(lines: string[]): Readable {
  const bytes = Buffer.from(`${lines.join("\n")}\n`);
  return Readable.from(
    Array.from({ length: Math.ceil(bytes.length / 7) }, (_, at) => bytes.subarray(7 * at, 7 * at + 7)),
  );
}

describe("what the runtime writes", () => {
  it("loses the native traces of failed lookups and connections, and nothing else", async () => {
    const lines = ["before …", ...lookup, theirs, ...refused, ...crash, "after"];
    const shown = await text(pieces(lines).pipe(withoutNativeTraces()));
    expect(shown.trimEnd().split("\n")).toEqual(["before …", theirs, ...crash, "after"]);
  });

  it("loses the writes of one subject that succeed", async () => {
    const shown = await text(pieces([write, failed, theirs, write]).pipe(withoutSubject("demo-loader")));
    expect(shown.trimEnd().split("\n")).toEqual([failed, theirs]);
  });
});
