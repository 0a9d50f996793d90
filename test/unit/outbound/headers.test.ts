import { describe, expect, it } from "vitest";
import { headersForOtherOrigin, outboundHeaders, responseHeaders } from "../../../src/outbound/headers.ts";

const names = (headers: Headers | undefined) => Array.from(headers ?? [], ([name]) => name);

describe("headers that go out", () => {
  it("are those that were given", () => {
    const given = { Accept: "application/json", Authorization: "Bearer theirs", "MCP-Protocol-Version": "2026-07-28" };
    expect(Object.fromEntries(outboundHeaders(given) ?? [])).toEqual({
      accept: "application/json",
      authorization: "Bearer theirs",
      "mcp-protocol-version": "2026-07-28",
    });
    expect(names(outboundHeaders(undefined))).toEqual([]);
  });

  it.each([
    ...["Connection", "Keep-Alive", "Proxy-Authorization", "Proxy-Connection", "TE", "Trailer", "Transfer-Encoding"],
    ...["Upgrade", "Host", "Content-Length", "Expect", "Accept-Encoding", "Forwarded", "Via", "X-Real-IP"],
    ...["X-Forwarded-For", "X-Forwarded-Host", "CF-Connecting-IP", "CF-Worker", "True-Client-IP"],
  ])("do not include %s", (name) => {
    expect(names(outboundHeaders({ [name]: "x", "X-Other": "y" }))).toEqual(["x-other"]);
  });

  it.each<Record<string, string>>([{ "a b": "x" }, { "": "x" }, { a: "x\r\nb: y" }, { a: "x\0" }, { a: "é漢" }])(
    "cannot be %j",
    (given) => {
      expect(outboundHeaders(given)).toBeUndefined();
    },
  );
});

describe("headers for another origin", () => {
  it("are only those that are known to be harmless", () => {
    const kept = { Accept: "a", "Accept-Language": "b", "MCP-Protocol-Version": "c", "User-Agent": "d" };
    const dropped = {
      ...{ Authorization: "e", Cookie: "f", "X-API-Key": "g", "Mcp-Session-Id": "h", "X-Auth-Token": "i" },
      ...{ "webhook-signature": "j", "If-None-Match": "k", Origin: "l", Referer: "m", "Last-Event-ID": "n" },
    };
    expect(names(headersForOtherOrigin(new Headers({ ...kept, ...dropped })))).toEqual(
      Object.keys(kept).map((name) => name.toLowerCase()),
    );
  });
});

describe("headers that are handed on", () => {
  it("say nothing of the wire, and set no cookies", () => {
    const answered = new Headers({
      ...{ "Content-Type": "text/plain", ETag: '"1"', "Retry-After": "5", Location: "/x" },
      ...{ "Content-Encoding": "gzip", "Content-Length": "5", "Transfer-Encoding": "chunked", Connection: "close" },
    });
    answered.append("Set-Cookie", "a=b");
    answered.append("Set-Cookie", "c=d");
    expect(names(responseHeaders(answered))).toEqual(["content-type", "etag", "location", "retry-after"]);
  });
});
