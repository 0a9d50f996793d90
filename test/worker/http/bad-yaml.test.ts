import { beforeAll, describe, expect, it } from "vitest";
import { config, configs } from "../support/registry.ts";
import { type Sender, sender } from "../support/sender.ts";

describe("hostile YAML", () => {
  let hostile: Sender;
  const yaml = (text: string) => hostile.send("POST", configs, text, { "Content-Type": "application/yaml" });
  beforeAll(async () => {
    hostile = await sender("hostile");
  });

  const laughs = Array.from(
    { length: 9 },
    (_, level) => `l${level + 1}: &l${level + 1} [${Array(9).fill(`*l${level}`).join(", ")}]`,
  );
  const start = "tenant: hostile\nname: s\n";
  const documents: [string, string][] = [
    ["billion laughs", `${start}l0: &l0 lol\n${laughs.join("\n")}`],
    ["a key twice", `${start}a: 1\na: 2`],
    ["a key twice in a flow", `${start}a: {b: 1, b: 2}`],
    ["a number and a string that are one key in JSON", `${start}a: {1: x, "1": y}`],
    ["no key and an empty one, which are one key in JSON", `${start}a: {~: x, "": y}`],
    ["a key twice, once by its alias", `${start}a: {&k b: 1, *k : 2}`],
    ["an alias of nothing", `${start}a: *nowhere`],
    ["an alias inside its own anchor", `${start}a: &a [*a]`],
    ["a tag that runs code", `${start}a: !!js/function "function () {}"`],
    ["a tag of another language", `${start}a: !!python/object/apply:os.system ["id"]`],
    ["a tag of its own", `${start}a: !secret x`],
    ["binary", `${start}a: !!binary aGVsbG8=`],
    ["a set", `${start}a: !!set {b, c}`],
    ["an ordered map", `${start}a: !!omap [b: 1]`],
    ["a timestamp", `${start}a: !!timestamp 2001-12-14`],
    ["two documents", `${start}---\n${start}`],
    ["tabs for indentation", `${start}a:\n\tb: 1`],
    ["a list that does not end", `${start}a: [1, 2`],
    ["a quote that does not end", `${start}a: "b`],
    ["no colon", "tenant"],
    ["nothing", ""],
    ["only a comment", "# nothing"],
    ["an unknown directive", `%FOO bar\n---\n${start}`],
    ["nesting beyond the bound", `${start}a: ${"[".repeat(65)}${"]".repeat(65)}`],
    ["nesting beyond any stack", `${start}a: ${"[".repeat(100_000)}`],
    [
      "nesting by indentation",
      `${start}a:\n${Array.from({ length: 300 }, (_, depth) => `${" ".repeat(depth + 1)}b:`).join("\n")}`,
    ],
    ["an integer that no double holds", `${start}a: 12345678901234567891`],
    ["an integer beyond all doubles", `${start}a: 1${"0".repeat(400)}`],
    [".nan", `${start}a: .nan`],
    ["-.inf", `${start}a: [-.inf]`],
    ["__proto__", `${start}__proto__: {admin: true}`],
    ["__proto__ further down", `${start}a: [{__proto__: {admin: true}}]`],
  ];

  it.each(documents)("refuses %s with 400 and a reason", async (what, text) => {
    const before = await hostile.state();
    const { status, body } = await yaml(text.replaceAll("name: s\n", `name: ${what.replaceAll(/\W+/g, "x")}\n`));
    expect([status, body.success]).toEqual([400, false]);
    expect(body.error.message.length).toBeGreaterThan(10);
    expect(body.error.message).not.toMatch(/\bat \w+ \(|node_modules|\.ts:/);
    expect(await hostile.state()).toEqual(before);
  });

  it("says at which line", async () => {
    const { body } = await yaml(`${start}a: 1\na: 2`);
    expect(body.error).toMatchObject({
      code: "ErrorInvalidBody",
      message: expect.stringMatching(/^Invalid YAML: .* at line 4, column 1$/),
    });
    expect(body.error.details).toMatchObject({ line: 4, column: 1 });
  });

  it("refuses bytes that are not UTF-8", async () => {
    const bytes = new Uint8Array([...new TextEncoder().encode(`${start}a: `), 0xff, 0xfe]);
    expect((await hostile.send("POST", configs, bytes, { "Content-Type": "application/yaml" })).status).toBe(400);
  });

  it("measures what aliases stand for, not how short they are written", async () => {
    const block = "x".repeat(100_000);
    const text = `tenant: hostile\nname: swollen\na: &a "${block}"\nb: [${Array(40).fill("*a").join(", ")}]`;
    const { status } = await yaml(text);
    expect(status).toBe(413);
    expect((await hostile.send("GET", config("hostile", "swollen"))).status).toBe(404);
  });

  it("gives words no second meaning", async () => {
    const { status } = await yaml(
      "tenant: hostile\nname: plain\nwords: [no, yes, on, off, 012, 1_000, 2001-01-01, 12:30:45, <<, ~]",
    );
    expect(status).toBe(201);
    const { words } = (await hostile.send("GET", config("hostile", "plain"))).body.data;
    expect(words).toEqual(["no", "yes", "on", "off", 12, "1_000", "2001-01-01", "12:30:45", "<<", null]);
  });

  it("keeps what is nested as deep as the bound allows", async () => {
    const { status } = await yaml(`tenant: hostile\nname: deep\na: ${"[".repeat(63)}${"]".repeat(63)}`);
    expect(status).toBe(201);
  });
});
