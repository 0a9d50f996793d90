import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { type Answer, capabilities, configs, tools } from "../support/registry.ts";
import { type Sender, sender } from "../support/sender.ts";

describe("any JSON at all", () => {
  let any: Sender;
  beforeAll(async () => {
    any = await sender("any");
    await any.publish("s", tools("any_t"));
    await any.send("POST", configs, { tenant: "any", name: "c" });
  });

  /** Keys that mean something somewhere, so that random documents get past the first check. */
  const key = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.constantFrom(
        ..."name title description version id enabled lastSynced metadata discovery created_at inputSchema outputSchema annotations readOnlyHint uri uriTemplate patterns type parameters arguments required permissions effects icons src upstreamDependencies expectedLatencyMs p50 p95 serverInfo features limits runtime _meta sources visibility policy sameVersion digest flags tokens generation registry".split(
          " ",
        ),
      ),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom("__proto__", "constructor", "prototype", "toString", "", "a/b", "~", "\u200b", "é"),
    },
    { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 8 }) },
  );
  const scalar = fc.oneof(
    fc.constantFrom<unknown>(
      null,
      true,
      false,
      0,
      -0,
      1,
      "x",
      "",
      "1.0",
      "tenant",
      "public",
      "a b",
      "\ud800",
      "\u202e",
      "<IMPORTANT>",
    ),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.string({ unit: "binary", maxLength: 20 }),
  );
  const { value, item } = fc.letrec<{ schema: unknown; value: unknown; item: Record<string, unknown> }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 3 },
      scalar,
      fc.record(
        {
          type: fc.constantFrom<unknown>("object", "string", ["string", "null"], 7),
          properties: fc.dictionary(fc.constantFrom("a", "b", "toString"), tie("schema"), { maxKeys: 3 }),
          required: fc.constantFrom<unknown>(["a"], ["a", "a"], [], "a", [null]),
          enum: fc.constantFrom<unknown>([1, "a", null], [], {}, [[]]),
          $ref: fc.constantFrom<unknown>("#", "#/properties/a", "#/$defs/d", "#/nowhere", "https://x.test/s.json", 7),
          $defs: fc.dictionary(fc.constantFrom("d", "e"), tie("schema"), { maxKeys: 2 }),
          items: tie("schema"),
          allOf: fc.array(tie("schema"), { maxLength: 2 }),
          oneOf: fc.array(tie("schema"), { maxLength: 2 }),
          not: tie("schema"),
          additionalProperties: tie("schema"),
          minimum: scalar,
          pattern: fc.constantFrom("(", "(a+)+$", ""),
          "x-mcp-header": scalar,
        },
        { requiredKeys: [] },
      ),
    ),
    value: fc.oneof(
      { maxDepth: 3 },
      scalar,
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(key, tie("value"), { maxKeys: 4 }),
      tie("schema"),
    ),
    item: fc
      .tuple(
        fc.dictionary(key, tie("value"), { maxKeys: 3 }),
        fc.record(
          {
            name: fc.constantFrom("a", "A", "b", "send_email", "toString", "a b"),
            uri: fc.constantFrom("x:1", "x:2"),
            uriTemplate: fc.constantFrom("x:{a}", "x:{b}"),
            type: fc.constantFrom("plain", "odd-one", "Bad"),
            inputSchema: tie("schema"),
            outputSchema: tie("schema"),
            enabled: fc.constantFrom<unknown>(true, false, null, "no"),
          },
          { requiredKeys: ["name", "uri", "uriTemplate", "type"] },
        ),
      )
      .map(([odd, plain]) => ({ ...odd, ...plain })),
  }));
  const section = fc.oneof(
    { weight: 5, arbitrary: fc.array(item as fc.Arbitrary<unknown>, { maxLength: 3 }) },
    { weight: 1, arbitrary: value },
  );
  const manifest = fc.oneof(
    { weight: 1, arbitrary: value },
    {
      weight: 5,
      arbitrary: fc
        .tuple(
          fc.dictionary(key, value, { maxKeys: 2 }),
          fc.record(
            {
              tools: section,
              prompts: section,
              resources: section,
              resourceTemplates: section,
              generators: section,
              operations: section,
            },
            { requiredKeys: [] },
          ),
        )
        .map(([header, sections]) => ({ ...header, ...sections })),
    },
  );
  const settings = fc.oneof(
    { weight: 1, arbitrary: value },
    {
      weight: 5,
      arbitrary: fc
        .tuple(
          fc.dictionary(key, value, { maxKeys: 4 }),
          fc.record(
            {
              tenant: fc.constantFrom<unknown>("any", "any", "any", "", 7, "other"),
              name: fc.constantFrom<unknown>("c", "d", "s", "", null, "a/b"),
            },
            { requiredKeys: ["tenant", "name"] },
          ),
        )
        .map(([odd, plain]) => ({ ...odd, ...plain })),
    },
  );

  /** Sends until something is refused wrongly: never a 500, and what is refused leaves no trace. */
  const holds = (document: fc.Arbitrary<unknown>, write: (text: string) => Promise<Answer>) =>
    fc.assert(
      fc.asyncProperty(document, async (sent) => {
        const before = await any.state();
        const { status, body } = await write(JSON.stringify(sent));
        expect(status).toBeLessThan(500);
        expect(body.success).toBe(status < 400);
        if (status < 400) return;
        expect(body.error.message.length).toBeGreaterThan(0);
        expect(await any.state()).toEqual(before);
      }),
      { numRuns: 60, interruptAfterTimeLimit: 15_000 },
    );

  it("is published or refused, and leaves no trace when refused", () =>
    holds(manifest, (text) => any.publish("s", text)));
  it("is published in part or refused", () => holds(manifest, (text) => any.publish("s", text, "?partial=true")));
  it("is registered or refused", () => holds(settings, (text) => any.send("POST", configs, text)));
  it("replaces settings or is refused", () => holds(settings, (text) => any.send("PUT", configs, text)));
  it("switches items or is refused", () => {
    const items = fc.array(
      fc.record({
        kind: fc.constantFrom("tool", "prompt", "x"),
        name: fc.constantFrom("a", "b", "any_t"),
        enabled: fc.constantFrom<unknown>(true, false, 1),
      }),
      { maxLength: 3 },
    );
    const switches = fc.oneof(value, fc.record({ items: fc.oneof(items as fc.Arbitrary<unknown>, value) }));
    return holds(switches, (text) => any.send("PATCH", capabilities("any", "s"), text));
  });

  it("that was taken can be read back and published again", async () => {
    await fc.assert(
      fc.asyncProperty(manifest, async (sent) => {
        const { status } = await any.publish("s", JSON.stringify(sent), "?partial=true");
        if (status >= 400) return;
        const view = await any.send("GET", capabilities("any", "s"));
        expect(view.status).toBe(200);
        const again = await any.publish("s", JSON.stringify(view.body.data));
        expect([200, 201]).toContain(again.status);
      }),
      { numRuns: 60, interruptAfterTimeLimit: 15_000 },
    );
  });
});
