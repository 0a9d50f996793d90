import { describe, expect, it } from "vitest";
import type { Generator } from "../../../src/manifest/schema/capability.ts";
import { isPresent, valuesAt } from "../../../src/registry/generators/config-path.ts";
import { preflight } from "../../../src/registry/generators/preflight.ts";

const codeGeneration: Generator = {
  type: "code_generation",
  requirements: {
    fields: ["generation.patterns[0].specification"],
    dependencies: ["anthropic"],
    envVars: ["ANTHROPIC_API_KEY"],
  },
  upstreamDependencies: {
    services: ["anthropic"],
    credentialsRequired: ["ANTHROPIC_API_KEY"],
    optionalServices: [],
    expectedLatencyMs: { p50: 1_500, p95: 5_000 },
    stability: "stable",
    concurrencySafe: true,
  },
};
const config = { generation: { patterns: [{ specification: "a function" }] } };

describe("preflight", () => {
  it("is ready when fields and credentials are there, with twice the p95 as timeout", () => {
    expect(preflight(codeGeneration, { config, credentials: ["ANTHROPIC_API_KEY"] })).toMatchObject({
      ready: true,
      missing_fields: [],
      missing_credentials: [],
      dependencies: ["anthropic"],
      timeout_ms: 10_000,
      concurrency: { safe: true },
    });
  });

  it("names each missing credential once and each missing field", () => {
    const answer = preflight(codeGeneration, { config: {}, credentials: ["OTHER"] });
    expect(answer).toMatchObject({
      ready: false,
      missing_fields: ["generation.patterns[0].specification"],
      missing_credentials: ["ANTHROPIC_API_KEY"],
    });
    expect(answer.reasons).toEqual(
      expect.arrayContaining([
        "Missing credential: ANTHROPIC_API_KEY",
        "Missing field: generation.patterns[0].specification",
      ]),
    );
  });

  it("takes null for nothing upstream", () => {
    const local: Generator = { type: "jinja2", upstreamDependencies: null };
    expect(preflight(local, { config: {}, credentials: [] })).toMatchObject({
      ready: true,
      timeout_ms: null,
      concurrency: { safe: true },
      reasons: ["It depends on nothing upstream"],
    });
  });

  it("assumes 5,000 ms where no p95 is declared, and one at a time where safety is not", () => {
    const vague: Generator = { type: "g", upstreamDependencies: { services: ["x"], stability: "beta" } };
    const answer = preflight({ ...vague, status: "deprecated" }, { config: {}, credentials: [] });
    expect(answer).toMatchObject({ ready: true, timeout_ms: 10_000, concurrency: { safe: false } });
    expect(answer.reasons).toEqual(expect.arrayContaining(["It is deprecated", "Its upstream is beta"]));
  });
});

describe("paths into a config", () => {
  const tree = { a: { b: [{ c: 1 }, { c: null }, { d: "" }] }, list: [], "odd key": 1 };

  it.each([
    ["a.b[0].c", [1]],
    ["a.b[].c", [1, null]],
    ["a.b[9].c", []],
    ["a.x", []],
    ["a.b.c", []],
    ["odd key", [1]],
    ["__proto__", []],
    ["constructor", []],
    ["", [tree]],
  ])("%s", (path, values) => {
    expect(valuesAt(tree, path)).toEqual(values);
  });

  it("call something present when there is something to work with", () => {
    const paths = ["a.b[].c", "a.b[1].c", "a.b[2].d", "list", "a.b"];
    expect(paths.map((path) => isPresent(tree, path))).toEqual([true, false, false, false, true]);
  });
});
