import { describe, expect, it } from "vitest";
import { z } from "zod";
import { RequestFailed } from "../../../src/http/context.ts";
import { flag, names, page, required, since, whole } from "../../../src/http/parameters.ts";
import { queryReader } from "../../../src/http/read-parameters.ts";
import { ServerName, TenantKey } from "../../../src/kernel/names.ts";

const read = queryReader({
  parameters: {
    query: {
      task: required(z.string().max(20), "what to look for").optional(),
      kind: z
        .array(z.enum(["tool", "prompt"]))
        .max(2)
        .optional(),
      fields: names(["a", "b"]).optional(),
      tenant: TenantKey.describe("Whose.").optional(),
      name: ServerName.optional(),
      partial: flag.default(false),
      after: since.optional(),
      depth: whole(0, 5).optional(),
      ...page(30),
    },
    aliases: { task: ["q"] },
  },
});
const values = (query: string) => {
  const all = read(new URLSearchParams(query));
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
};
const refusal = (query: string) => {
  try {
    values(query);
  } catch (error) {
    if (error instanceof RequestFailed) return error.failure;
    throw error;
  }
  throw new Error(`${query} was taken`);
};
const plain = { partial: false, limit: 30 };

describe("a query", () => {
  it.each([
    ["", {}],
    ["task=a+b", { task: "a b" }],
    ["q=rain", { task: "rain" }],
    ["kind=tool&kind=prompt", { kind: ["tool", "prompt"] }],
    ["kind=tool", { kind: ["tool"] }],
    ["fields=a,b&fields=a", { fields: ["a", "b", "a"] }],
    ["tenant=io.github.acme&name=S", { tenant: "io.github.acme", name: "S" }],
    ["partial", { partial: true }],
    ["partial=true&limit=100&depth=0", { partial: true, limit: 100, depth: 0 }],
    ["after=2026-01-01T00:00:00Z", { after: Date.UTC(2026, 0, 1) }],
    ["cursor=", { cursor: "" }],
  ])("%s is read as the types of its parameters", (query, expected) => {
    expect(values(query)).toEqual({ ...plain, ...expected });
  });

  it.each([
    ["limit=1e1", "limit must be a whole number from 1 to 100"],
    ["limit=", "limit must be a whole number"],
    ["limit=+5", "limit must be a whole number"],
    ["limit=1&limit=2", "limit may be given once, not 2 times"],
    ["depth=6", "depth must be a whole number from 0 to 5"],
    ["partial=yes", "partial must be true or false"],
    ["kind=robot", "kind must be one of tool, prompt"],
    ["kind=tool&kind=tool&kind=tool", "kind may be repeated 2 times at most, not 3 times"],
    ["fields=a,c", "fields must be one of a, b"],
    ["after=tomorrow", "after must be an RFC 3339 time such as"],
    [`task=${"x".repeat(21)}`, "task must have at most 20 characters"],
    ["task=a&q=b", "task and q are the same parameter: send one"],
    ["__proto__=1", 'Unknown query parameter "__proto__"; known: task, kind'],
    ["Limit=1", 'Unknown query parameter "Limit"'],
  ])("%s is refused", (query, message) => {
    const { code, message: said } = refusal(query);
    expect([code, said]).toEqual(["ErrorBadRequest", expect.stringContaining(message)]);
  });

  it("has names with failures of their own", () => {
    expect(refusal("tenant=No+Such")).toMatchObject({
      code: "ErrorTenantInvalid",
      message: expect.stringContaining("Tenant name must be"),
    });
    expect(refusal("name=")).toMatchObject({ code: "ErrorMCPServerNameRequired" });
  });

  it("with a typo is told what was meant, and never the other spellings", () => {
    expect(refusal("limti=1").details).toEqual({ hint: "Did you mean limit?" });
    expect(refusal("zzz=1").details?.hint).not.toContain("Did you mean");
    expect(refusal("zzz=1").message.split("; known: ")[1]).not.toMatch(/\bq\b/);
  });

  it("is told what a required parameter is for", () => {
    const strict = queryReader({ parameters: { query: { task: required(z.string(), "the task in plain words") } } });
    for (const query of ["", "task=", "task=+++"]) {
      expect(() => strict(new URLSearchParams(query))).toThrow("task is missing: the task in plain words");
    }
  });
});
