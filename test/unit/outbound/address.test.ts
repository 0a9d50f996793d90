import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AddressFault, checkAddress } from "../../../src/outbound/address.ts";
import { createGuardedFetch } from "../../../src/outbound/guarded-fetch.ts";
import { toStandardFetch } from "../../../src/outbound/standard-fetch.ts";
import { describeFixture } from "../../support/fixtures.ts";

const policy = { ownHosts: ["registry.example"] };
const development = { ...policy, allowLoopback: true };

/** "allowed", or why not. */
const verdict = (address: string, by = policy) => {
  const result = checkAddress(address, by);
  return result.ok ? "allowed" : result.error;
};

/** A way out that counts who was asked. */
function countingFetch(by = policy) {
  const asked: string[] = [];
  const guarded = createGuardedFetch({
    policy: by,
    fetch: async (request) => {
      asked.push(request.url);
      return new Response("hello");
    },
  });
  return { asked, guarded };
}

describeFixture("the list of addresses that lead inside", "security/ssrf.tsv", (location) => {
  const lines = readFileSync(location, "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [expected = "", kind = "", address = ""] = line.split("\t");
      return { expected, kind, address, shown: address.slice(0, 60) };
    });
  const refused = lines.filter(({ expected }) => expected === "refuse");

  /** What each class must fail by once nothing is wrong with its scheme and port: for most the scheme alone would do. */
  const faults: Record<string, AddressFault[]> = {
    loopback: ["ip-literal", "inside-name", "malformed"],
    unspecified: ["ip-literal"],
    "short-form": ["ip-literal"],
    decimal: ["ip-literal"],
    octal: ["ip-literal"],
    "octal-like-name": ["malformed"],
    hex: ["ip-literal"],
    overflow: ["malformed"],
    "unicode-digits": ["ip-literal", "inside-name", "malformed"],
    rfc1918: ["ip-literal"],
    "link-local/metadata": ["ip-literal", "inside-name"],
    cgnat: ["ip-literal"],
    "special-v4": ["ip-literal"],
    "ula/site-local": ["ip-literal"],
    "v6-loopback": ["ip-literal"],
    "v4-mapped/compat/translated": ["ip-literal"],
    "v6-special": ["ip-literal"],
    "dns-to-private": ["inside-name"],
    "internal-suffix": ["inside-name"],
    credentials: ["credentials"],
    "parser-confusion": ["malformed", "ip-literal"],
    scheme: ["scheme", "malformed"],
    "plain-http-in-production": ["scheme"],
    port: ["port", "malformed"],
    "ip-literal-public": ["ip-literal"],
    "own-zone": ["own-host"],
    length: ["too-long"],
  };
  /** Their scheme or port is what is wrong with them. */
  const keptAsWritten = new Set(["scheme", "plain-http-in-production", "port"]);

  it("is all there", () => {
    expect([lines.length, refused.length]).toEqual([88, 85]);
    expect(new Set(refused.map(({ kind }) => kind))).toEqual(new Set(Object.keys(faults)));
  });

  it.each(refused)("$kind $shown is refused, and nobody is asked", async ({ address }) => {
    const { asked, guarded } = countingFetch();
    const result = await guarded(address, { method: "POST", body: "{}" });
    expect(result).toEqual({
      ok: false,
      error: {
        kind: "refused",
        message: "The registry will not send requests to this address. Use a public https URL on the default port",
      },
    });
    await expect(toStandardFetch(guarded)(address)).rejects.toThrow(
      "The registry will not send requests to this address. Use a public https URL on the default port",
    );
    expect(asked).toEqual([]);
  });

  it.each(refused)("$kind $shown is refused as what it is", ({ kind, address }) => {
    const disguised = keptAsWritten.has(kind) ? address : address.replace(/^http:/, "https:").replace(/:80\b/g, "");
    expect(faults[kind]).toContain(verdict(disguised));
  });

  it.each(refused)("$kind $shown is not reached by a redirect, either", async ({ kind, address }) => {
    const asked: string[] = [];
    const guarded = createGuardedFetch({
      policy,
      fetch: async (request) => {
        asked.push(request.url);
        return new Response(null, { status: 302, headers: { location: encodeURI(address) } });
      },
    });
    const result = await guarded("https://example.com/mcp");
    // Read as a path of the host that sent it, this one leads nowhere new.
    const isRelative = address === "/relative" || /^ht%/.test(address);
    expect(result).toMatchObject({ ok: false, error: { kind: isRelative ? "too-many-redirects" : "refused" } });
    if (!isRelative) expect(asked).toEqual(["https://example.com/mcp"]);
    expect(new Set(asked.map((url) => new URL(url).host)), kind).toEqual(new Set(["example.com"]));
  });

  it.each(lines.filter((line) => !refused.includes(line)))("$kind $shown is asked", async ({ address }) => {
    const { asked, guarded } = countingFetch();
    expect(await guarded(address)).toMatchObject({ ok: true, value: { status: 200, url: address } });
    expect(asked).toEqual([address]);
  });
});

describe("an address", () => {
  it.each([
    "https://example.com",
    "https://EXAMPLE.com/",
    "https://example.com:443/",
    "https://a-b.c1.example.co.uk/a/b%20c?d=e#f",
    "https://1password.com/",
    "https://3com.example/",
    "https://xn--bcher-kva.example/é",
  ])("may be %s", (address) => {
    expect(verdict(address)).toBe("allowed");
  });

  it.each<[string, AddressFault]>([
    ["", "malformed"],
    [" https://example.com/", "malformed"],
    ["https://example.com/ ", "malformed"],
    ["https://exa\tmple.com/", "malformed"],
    ["https://example.com\n/", "malformed"],
    ["https:\\\\example.com\\", "malformed"],
    ["https://example.com\\@127.0.0.1/", "malformed"],
    ["https:example.com", "malformed"],
    ["https:///example.com", "malformed"],
    ["//example.com/", "malformed"],
    ["https://", "malformed"],
    ["https://bücher.example/", "malformed"],
    ["https://ex%61mple.com/", "malformed"],
    ["https://exam_ple.com/", "malformed"],
    ["https://-a.example/", "malformed"],
    ["https://a..example/", "malformed"],
    ["https://example.com:/", "malformed"],
    ["https://example.com./", "malformed"],
    ["https://registry.example./", "malformed"],
    ["https://@example.com/", "credentials"],
    ["https://:@example.com/", "credentials"],
    ["https://user@example.com/", "credentials"],
    ["http://example.com/", "scheme"],
    ["http://example.com:443/", "scheme"],
    ["HTTP://example.com/", "scheme"],
    ["javascript://example.com/", "scheme"],
    ["https://example.com:80/", "port"],
    ["https://example.com:8443/", "port"],
    ["https://example.com:0/", "port"],
    ["https://1.1.1.1/", "ip-literal"],
    ["https://127.0.0.1./", "ip-literal"],
    ["https://0x7f.0x0.0x0.0x1/", "ip-literal"],
    ["https://0/", "ip-literal"],
    ["https://127.0.0.1%2f/", "malformed"],
    ["https://[2606:4700::1111]/", "ip-literal"],
    ["https://[::ffff:1.1.1.1]/", "ip-literal"],
    ["https://localhost/", "inside-name"],
    ["https://LOCALHOST/", "inside-name"],
    ["https://a.localhost/", "inside-name"],
    ["https://printer.local/", "inside-name"],
    ["https://kubernetes.default.svc.cluster.local/", "inside-name"],
    ["https://router.home.arpa/", "inside-name"],
    ["https://ipv4only.arpa/", "inside-name"],
    ["https://com/", "inside-name"],
    ["https://10-0-0-1.sslip.io/", "inside-name"],
    ["https://nip.io/", "inside-name"],
    ["https://REGISTRY.example/", "own-host"],
    ["https://registry.example:443/x", "own-host"],
    [`https://example.com/${"a".repeat(2_048)}`, "too-long"],
    [`https://${"a".repeat(63)}.${"b".repeat(63)}.${"c".repeat(63)}.${"d".repeat(62)}/`, "too-long"],
    [`https://${"a".repeat(64)}.example/`, "malformed"],
  ])("may not be %j: %s", (address, fault) => {
    expect(verdict(address)).toBe(fault);
  });

  it("is never an IPv4 address, however its number is written", () => {
    const forms = [
      (n: number) => String(n),
      (n: number) => `0x${n.toString(16)}`,
      (n: number) => `0${n.toString(8)}`,
      (n: number) =>
        [n >>> 24, (n >>> 16) & 255, (n >>> 8) & 255, n & 255].map((part) => `0${part.toString(8)}`).join("."),
      (n: number) => `${n >>> 24}.${n & 0xffffff}`,
      (n: number) => `${n >>> 24}.0x${((n >>> 16) & 255).toString(16)}.${n & 0xffff}`,
      (n: number) => `[::ffff:${(n >>> 16).toString(16)}:${(n & 0xffff).toString(16)}]`,
    ];
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffffffff }), fc.constantFrom(...forms), fc.boolean(), (n, form, dot) => {
        const host = form(n);
        expect(verdict(`https://${host}${dot && !host.endsWith("]") ? "." : ""}/`)).toBe("ip-literal");
      }),
    );
  });

  it("is asked at the host that was judged, whatever else is in it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary-ascii", maxLength: 30 }), (text) => {
        const result = checkAddress(`https://example.com${text}`, policy);
        if (!result.ok) return;
        const { protocol, username, password, port, hostname } = result.value;
        expect({ protocol, username, password, port }).toEqual({
          protocol: "https:",
          username: "",
          password: "",
          port: "",
        });
        expect(`https://example.com${text}`.toLowerCase().startsWith(`https://${hostname}`)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("in development", () => {
  it.each([
    "http://127.0.0.1/",
    "http://127.0.0.1:8787/mcp",
    "https://localhost:8443/",
    "http://localhost",
    "http://[::1]:3000/",
    "https://example.com/",
  ])("%s may be asked", (address) => {
    expect(verdict(address, development)).toBe("allowed");
  });

  it.each([
    "http://127.0.0.2/",
    "http://127.1/",
    "http://0x7f000001/",
    "http://2130706433:8787/",
    "http://localhost./",
    "http://a.localhost/",
    "http://user:pw@127.0.0.1/",
    "http://[::ffff:127.0.0.1]/",
    "http://0.0.0.0/",
    "http://10.0.0.1/",
    "http://169.254.169.254/",
    "http://example.com/",
    "https://example.com:8443/",
    "ftp://127.0.0.1/",
    "https://registry.example/",
  ])("%s still may not", (address) => {
    expect(verdict(address, development)).not.toBe("allowed");
  });

  it("the registry's own port may not be asked, where it is told", () => {
    const own = { ownHosts: ["127.0.0.1:8787"], allowLoopback: true };
    expect(verdict("http://127.0.0.1:8787/", own)).toBe("own-host");
    expect(verdict("http://127.0.0.1:8788/", own)).toBe("allowed");
  });

  it("only this machine points to this machine", async () => {
    const asked: string[] = [];
    const guarded = createGuardedFetch({
      policy: development,
      fetch: async (request) => {
        asked.push(request.url);
        return asked.length === 1
          ? new Response(null, { status: 302, headers: { location: "http://127.0.0.1:9000/" } })
          : new Response("inside");
      },
    });
    expect(await guarded("https://example.com/")).toMatchObject({ ok: false, error: { kind: "refused" } });
    expect(asked).toEqual(["https://example.com/"]);
    asked.length = 0;
    expect(await guarded("http://localhost:8000/")).toMatchObject({
      ok: true,
      value: { url: "http://127.0.0.1:9000/" },
    });
  });
});
