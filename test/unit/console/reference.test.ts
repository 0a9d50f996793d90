import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { CommandSpec } from "../../../packages/rollcall/src/cli/command-spec.ts";
import { commandGroups } from "../../../packages/rollcall/src/cli/command-table.ts";
import { createClient } from "../../../packages/rollcall/src/client/index.ts";
import { asCli, asCurl, asTypeScript, commandOf, expressionOf } from "../../../src/console/reference/calls.ts";
import {
  canBeTried,
  type Described,
  type DescribedOperation,
  readDescription,
} from "../../../src/console/reference/description.ts";
import { addressOf, exampleOf, fieldOf, filledIn } from "../../../src/console/reference/filled.ts";

const asset = join(import.meta.dirname, "../../../assets/openapi.json");
let described: Described;
let all: DescribedOperation[];
beforeAll(async () => {
  described = await readDescription({ openapi: async () => readFileSync(asset, "utf8") });
  all = described.operations;
});

const named = (id: string) => all.find((operation) => operation.id === id) as DescribedOperation;

/** What code of the page asks for, with a client that sends nothing. */
async function askedBy(expression: string): Promise<{ method: string; path: string; body: string | undefined }> {
  let asked: { method: string; path: string; body: string | undefined } | undefined;
  const registry = createClient({
    url: "https://registry.test",
    token: "a.b.c",
    retry: { tries: 1 },
    fetch: async (url, { method = "", body }) => {
      asked = { method, path: url.slice("https://registry.test".length), body: body?.toString() };
      return Response.json({ success: true, data: {} });
    },
  });
  await new Function("registry", `return ${expression};`)(registry);
  if (asked === undefined) throw new Error(`${expression} asks for nothing`);
  return asked;
}

describe("the reference", () => {
  it("has every operation with who may call it, what it answers and how it fails", () => {
    expect(all.length).toBeGreaterThan(80);
    for (const { id, who, answers, failures, tag } of all) {
      const isAlwaysRefused = ["replaceOfficialVersion", "deleteOfficialVersion"].includes(id);
      expect([id, who === "", answers.length === 0]).toEqual([id, false, isAlwaysRefused]);
      expect([id, described.tags.some(({ name }) => name === tag)]).toEqual([id, true]);
      for (const { codes } of failures)
        expect([id, codes.every((code) => /^[A-Za-z_]+$/.test(code))]).toEqual([id, true]);
      expect([id, failures.flatMap(({ codes }) => codes).includes("ErrorInternalServer")]).toEqual([id, true]);
    }
  });

  it("asks in TypeScript for what curl asks for, operation by operation", async () => {
    for (const operation of all) {
      const filled = exampleOf(operation);
      for (const name of Object.keys(filled.path)) filled.path[name] ||= "x";
      const asked = await askedBy(expressionOf(operation, filled));
      const wanted = new URL(addressOf(operation, filled), "https://registry.test");
      const sent = new URL(asked.path, "https://registry.test");
      expect([operation.id, asked.method, sent.pathname]).toEqual([operation.id, operation.method, wanted.pathname]);
      for (const [name, value] of wanted.searchParams) {
        // The library writes lists in its own way; what is asked is the same.
        if (!operation.parameters.some((one) => one.name === name && one.schema.type === "array"))
          expect([operation.id, name, sent.searchParams.get(name)]).toEqual([operation.id, name, value]);
      }
      if (filled.body && filled.type === "application/json")
        expect([operation.id, JSON.parse(asked.body ?? "")]).toEqual([operation.id, JSON.parse(filled.body)]);
    }
  });

  it("uses functions of the library where there are some", () => {
    const expressions = all.map((operation) => expressionOf(operation, exampleOf(operation)));
    expect(expressions.filter((code) => !code.startsWith("registry.connection")).length).toBeGreaterThan(15);
    expect(
      expressionOf(
        named("searchCapabilities"),
        filledIn(named("searchCapabilities"), new URLSearchParams({ "query.task": 'a "b"', "query.budget": "200" })),
      ),
    ).toBe('registry.search("a \\"b\\"", { budget: 200 })');
  });

  it("names commands that the command line has", () => {
    const commands = new Set<string>();
    const add = ({ usage, commands: inside = [] }: CommandSpec, before: string) => {
      const path = `${before}${usage.split(" ")[0]}`;
      commands.add(path);
      for (const one of inside) add(one, `${path} `);
    };
    for (const spec of Object.values(commandGroups).flat()) add(spec, "");
    for (const operation of all) {
      const command = commandOf(operation, exampleOf(operation));
      if (command === undefined) continue;
      const [first = "", second = ""] = command.split(" ");
      const isKnown =
        commands.has(`${first} ${second}`) ||
        (commands.has(first) && !["server", "hooks", "subscriptions"].includes(first));
      expect([operation.id, command, isKnown]).toEqual([operation.id, command, true]);
    }
    expect(commands.has("api")).toBe(true);
  });

  it("quotes what somebody typed, for the shell and for code", () => {
    const operation = named("getCapability");
    const typed = new URLSearchParams({
      "path.tenant": "demo",
      "path.capabilityId": "a'b$(c)/..",
      "header.If-None-Match": "'x`y",
    });
    const filled = filledIn(operation, typed);
    expect(asCurl(operation, filled, "https://r.test")).toContain(
      "'https://r.test/api/capabilities/demo/a'\\''b%24(c)%2F..'",
    );
    expect(asCurl(operation, filled, "https://r.test")).toContain("-H 'If-None-Match: '\\''x`y'");
    expect(asCurl(operation, filled, "https://r.test")).toContain('-H "Authorization: Bearer $ROLLCALL_TOKEN"');
    expect(asCli(operation, filled)).toContain("'\\''");
    expect(asTypeScript(operation, filled, "https://r.test")).toContain('"If-None-Match":"\'x`y"');
  });

  it("writes a list as a repeated parameter, and leaves out what is empty", () => {
    const operation = named("searchCapabilities");
    const typed = new URLSearchParams({
      "query.task": "rain & wind",
      "query.kind": "tool, prompt",
      "query.budget": " ",
    });
    expect(addressOf(operation, filledIn(operation, typed))).toBe(
      "/api/search?task=rain+%26+wind&kind=tool&kind=prompt",
    );
    expect(operation.parameters.map(fieldOf)).toContain("query.task");
  });

  it("tries neither streams nor what needs a publisher's key", () => {
    expect(all.filter((operation) => !canBeTried(operation)).map(({ id }) => id)).toEqual([
      "receiveEvent",
      "streamSessionChanges",
    ]);
  });
});
