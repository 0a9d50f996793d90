import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fitBudget, verdictText } from "../../../src/console/fit.ts";
import { ago, number, share, short, shortDigest, until } from "../../../src/console/parts/figures.tsx";
import { Item } from "../../../src/console/parts/item.tsx";
import { clip, marked, text } from "../../../src/console/parts/text.tsx";
import { cookieOf, safeNext } from "../../../src/console/sign-in/cookie.ts";
import { isSameOrigin } from "../../../src/console/sign-in/same-origin.ts";
import { SignIns } from "../../../src/console/sign-in/seal.ts";

const html = (child: unknown) => String(child);

describe("publisher text", () => {
  it("is isolated where it is not ASCII, and shows what cannot be seen", () => {
    expect(text("plain")).toBe("plain");
    expect(html(text("שלום"))).toBe('<bdi dir="auto">שלום</bdi>');
    expect(html(text("a\u200bb\u202ec"))).toBe(
      '<bdi dir="auto">a<span class="chip odd">U+200B</span>b<span class="chip odd">U+202E</span>c</bdi>',
    );
    expect(html(text("می\u200cخواهم 👩\u200d💻"))).not.toContain("U+200");
    expect(html(text('é<img src=x onerror="alert(1)">'))).toBe(
      '<bdi dir="auto">é&lt;img src=x onerror=&quot;alert(1)&quot;&gt;</bdi>',
    );
  });

  it("is cut between words, and marked within its bounds", () => {
    expect(clip("one two three", 9)).toBe("one two …");
    expect(clip("abcdefghij", 4)).toBe("abcd …");
    expect(
      html(
        marked("find <b> file", [
          [9, 13],
          [50, 60],
        ]),
      ),
    ).toBe('<bdi dir="auto">find &lt;b&gt; <mark>file</mark></bdi>');
  });
});

describe("an item that cannot be shown as a table", () => {
  it("is shown as it was published, with the reason", () => {
    const declared = { name: "odd", description: "An odd one." };
    const schema = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error("no keys today");
        },
        get: () => {
          throw new Error("no keys today");
        },
      },
    );
    const item = {
      kind: "tool",
      key: "odd",
      id: "mcp.x.odd",
      digest: "sha256-0",
      tokens: 5,
      flags: [],
      declared: { ...declared },
    } as const;
    Object.defineProperty(item.declared, "inputSchema", { value: schema });
    const record = { id: "mcp.x.odd", digest: "sha256-0", tokens: 5, flags: [], status: "active" } as const;
    const shown = html(
      Item({ item: { ...item, flags: [] }, record: { ...record, flags: [] }, tenant: "demo", whole: true }),
    );
    expect(shown).toContain("cannot be shown as a table (no keys today)");
    expect(shown).toContain("An odd one.");
  });
});

describe("figures", () => {
  it("are short and plain", () => {
    expect([number(1234567), short(9_999), short(12_345), short(1_740_000)]).toEqual([
      "1,234,567",
      "9,999",
      "12.3k",
      "1.74 M",
    ]);
    expect(share(812)).toBe("0.41 % of 200k");
    const now = Date.parse("2026-11-18T12:00:00Z");
    expect(["2026-11-18T11:59:50Z", "2026-11-18T09:00:00Z", "2025-01-01T00:00:00Z"].map((at) => ago(at, now))).toEqual([
      "just now",
      "3 h ago",
      "1 y ago",
    ]);
    expect([0, 45, 59.6, 480].map((minutes) => until(now + minutes * 60_000, now))).toEqual([
      "0 min",
      "45 min",
      "1 h",
      "8 h",
    ]);
    expect(shortDigest(`sha256-4ef7${"0".repeat(56)}34f2`)).toBe("sha256-4ef7…34f2");
  });
});

describe("what fits a budget", () => {
  it("is taken in order, deprecated last, with what is passed over said", () => {
    const items = [
      { tokens: 100, deprecated: true },
      { tokens: 50, deprecated: false },
      { tokens: 80, deprecated: false },
      { tokens: 10, deprecated: false, obstacle: "flagged" },
      { tokens: 20, deprecated: false },
    ];
    const result = fitBudget(items, 110);
    expect(result.verdicts).toEqual([
      { fits: false, why: "100 > 40 left" },
      { fits: true, sum: 50 },
      { fits: false, why: "80 > 60 left" },
      { fits: false, why: "flagged" },
      { fits: true, sum: 70 },
    ]);
    expect(verdictText(result, ["a", "b", "c", "d", "e"], 110)).toBe(
      "2 fit, 70 of 110 tokens; c left out (80 > 60 left)",
    );
    expect(fitBudget(items, undefined)).toMatchObject({ count: 4, used: 250 });
    expect(fitBudget([], 5)).toMatchObject({ count: 0, used: 0 });
  });
});

describe("the cookie's place", () => {
  it("is https or this machine", () => {
    expect(cookieOf("https://a.example")).toEqual({ name: "__Host-rollcall", secure: true });
    expect(cookieOf("http://127.0.0.1:8787")).toEqual({ name: "rollcall-8787", secure: false });
    expect(cookieOf("http://a.example")).toBeUndefined();
  });

  it("leads on within the registry alone", () => {
    expect(safeNext("/servers?kind=tool#x")).toBe("/servers?kind=tool#x");
    for (const bad of [
      "//e.example",
      "/\\e.example",
      "https://e.example",
      "/\t/e.example",
      "x",
      "",
      undefined,
      "/sign-in",
      "/..//e.example",
    ])
      expect([bad, safeNext(bad).startsWith("//"), new URL(safeNext(bad), "https://r.example").origin]).toEqual([
        bad,
        false,
        "https://r.example",
      ]);
  });

  it("is opened by whoever sealed it", async () => {
    const secret = new TextEncoder().encode("a secret that is long enough, surely");
    const signIn = {
      subject: "s",
      tenants: ["t"],
      scopes: ["registry:read"],
      admin: false,
      expiresAt: 5,
      key: { alg: "HS256" },
    };
    const sealed = await new SignIns(secret).seal("sign-in", signIn);
    expect(await new SignIns(secret).open("sign-in", sealed)).toEqual(signIn);
    expect(await new SignIns(secret, new Uint8Array([1])).open("sign-in", sealed)).toBeUndefined();
    expect(await new SignIns(secret).open("notice", sealed)).toBeUndefined();
    for (const bad of ["", "x", `${sealed}A`, sealed.slice(0, -2), "A".repeat(200)])
      expect(await new SignIns(secret).open("sign-in", bad)).toBeUndefined();
  });

  it("counts for requests of our own pages", () => {
    const origin = "https://r.example";
    const cases: [Record<string, string>, boolean][] = [
      [{ "Sec-Fetch-Site": "same-origin" }, true],
      [{ "Sec-Fetch-Site": "cross-site", Origin: origin }, false],
      [{ Origin: origin }, true],
      [{ Origin: "null" }, false],
      [{}, false],
    ];
    for (const [headers, is] of cases) expect(isSameOrigin(new Headers(headers), origin)).toBe(is);
  });
});

describe("the sources of the pages", () => {
  it("have no inline styles, no raw HTML but in one place, and no script in an attribute", () => {
    const folder = join(import.meta.dirname, "../../../src/console");
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".tsx"));
    const found = files.flatMap((name) => {
      const source = readFileSync(join(folder, name), "utf8");
      return [/\sstyle=/, /dangerouslySetInnerHTML/, /\bon[A-Z]\w+=\{/, /\braw\(/]
        .filter((rule) => rule.test(source))
        .map((rule) => `${name} ${rule.source}`);
    });
    expect(files.length).toBeGreaterThan(15);
    expect(found).toEqual(["parts/item.tsx \\braw\\("]);
  });
});
