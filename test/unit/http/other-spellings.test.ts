import { describe, expect, it } from "vitest";
import { z } from "zod";
import { withOtherSpellings } from "../../../src/http/other-spellings.ts";

const Request = withOtherSpellings(z.strictObject({ task: z.string().optional(), budget: z.int() }), {
  task: ["q", "query"],
  budget: ["token_budget"],
});

describe("other spellings", () => {
  it.each([
    { task: "rain", budget: 5 },
    { q: "rain", budget: 5 },
    { query: "rain", token_budget: 5 },
  ])("%j is the same request", (request) => {
    expect(Request.parse(request)).toEqual({ task: "rain", budget: 5 });
  });

  it.each([
    [{ task: "a", q: "b", budget: 5 }, "q"],
    [{ q: "a", task: "b", budget: 5 }, "q"],
    [{ q: "a", query: "b", budget: 5 }, "query"],
    [{ token_budget: 5, budget: 5 }, "token_budget"],
  ])("%j names one member twice", (request, path) => {
    const { error } = Request.safeParse(request);
    expect(error?.issues.map((issue) => issue.path)).toEqual([[path]]);
    expect(error?.issues[0]?.message).toContain("send one");
  });

  it.each<unknown>([{ budget: 5, limit: 1 }, { budget: "5" }, [], null, 7, "text", { constructor: 5 }])(
    "%j is refused as before",
    (request) => {
      expect(Request.safeParse(request).success).toBe(false);
    },
  );

  it("are not described", () => {
    expect(z.toJSONSchema(Request, { io: "input" })).toMatchObject({
      properties: { task: {}, budget: {} },
      required: ["budget"],
      additionalProperties: false,
    });
  });
});
