import { describe, expect, it } from "vitest";
import type { Generator } from "../../../src/manifest/schema/capability.ts";
import {
  isPresent,
  maxVisited,
  missingAt,
  startCheck,
  valuesAt,
} from "../../../src/registry/generators/config-path.ts";
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
      unchecked: ["dependency anthropic: send the names of the packages you have in `dependencies`"],
      timeout_ms: 10_000,
      concurrency: { safe: true, advice: "several may run at once" },
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
    expect(answer).toMatchObject({ ready: true, timeout_ms: 10_000, concurrency: { safe: null } });
    expect(answer.reasons).toEqual(expect.arrayContaining(["It is deprecated", "Its upstream is beta"]));
    expect(answer.unchecked).toEqual(["concurrency_safe: the generator does not declare it"]);
  });

  it("takes an absent declaration for unknown, and names what is unknown", () => {
    const answer = preflight({ type: "g" }, { config: {}, credentials: [] });
    expect(answer).toMatchObject({
      ready: true,
      timeout_ms: 10_000,
      concurrency: { safe: null, advice: "run one at a time: it does not say whether several may run at once" },
      unchecked: ["upstream_dependencies: the generator does not declare them"],
    });
    expect(answer.reasons.join()).toContain("does not say whether it depends on anything upstream");
    expect(answer.reasons.join()).not.toContain("nothing upstream");
  });

  it("says where a generator is not safe to run at once", () => {
    const single: Generator = { type: "g", upstreamDependencies: { services: ["x"], concurrencySafe: false } };
    expect(preflight(single, { config: {}, credentials: [] }).concurrency).toEqual({
      safe: false,
      advice: "run one at a time: it is not safe to run at once",
    });
  });

  it.each(["stable", "experimental", "deprecated"] as const)("says that it is %s", (status) => {
    const answer = preflight({ type: "g", status }, { config: {}, credentials: [] });
    expect([answer.status, answer.reasons[0] === "It is deprecated"]).toEqual([status, status === "deprecated"]);
  });
});

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}${index}`);

/** The value, with every read of a list's element or an object's member counted. */
function counted<Value>(value: Value, visits: { count: number }): Value {
  if (typeof value !== "object" || value === null) return value;
  return new Proxy(value, {
    get(target, key, receiver) {
      if (typeof key === "string" && Object.hasOwn(target, key) && key !== "length") visits.count += 1;
      return counted(Reflect.get(target, key, receiver), visits);
    },
    getOwnPropertyDescriptor(target, key) {
      visits.count += 1;
      return Reflect.getOwnPropertyDescriptor(target, key);
    },
  });
}

describe("required fields", () => {
  const missing = (requirements: Generator["requirements"], given: Record<string, unknown>) => {
    const { ready, missing_fields } = preflight({ type: "g", requirements }, { config: given, credentials: [] });
    expect(ready).toBe(missing_fields.length === 0);
    return missing_fields;
  };

  it("of a list hold for every element, and are named for each that lacks them", () => {
    const requirements = { fields: ["patterns[].specification"] };
    expect(missing(requirements, { patterns: [{ specification: "a" }, {}, { specification: "" }] })).toEqual([
      "patterns[1].specification",
      "patterns[2].specification",
    ]);
    expect(missing(requirements, { patterns: [{ specification: "a" }] })).toEqual([]);
    expect(missing(requirements, { patterns: [] })).toEqual(["patterns[].specification"]);
    expect(missing(requirements, {})).toEqual(["patterns[].specification"]);
  });

  it.each<[string, unknown, string[], Record<string, unknown>, string[]]>([
    ["a map", { a: ["b"] }, [], { a: {} }, ["a.b"]],
    ["a map that holds", { a: ["b"] }, [], { a: { b: 0 } }, []],
    ["a nested map", { a: { b: ["c", "d"] } }, [], { a: { b: { c: 1 } } }, ["a.b.d"]],
    ["a map to one name", { a: "b" }, [], {}, ["a.b"]],
    ["a map to true", { a: { b: true, c: false } }, [], { a: {} }, ["a.b"]],
    ["every element of a list", { parts: ["body"] }, [], { parts: [{ body: "x" }, {}] }, ["parts[1].body"]],
    ["a list, below each field", ["b"], ["a", "x[]"], { a: { b: 1 }, x: [{ b: 1 }, { c: 1 }] }, ["x[1].b"]],
    ["a list without fields", ["b"], [], {}, ["b"]],
    ["a field that is missing as a whole", { a: ["b", "c"] }, ["a"], {}, ["a"]],
    ["nothing", {}, ["a"], { a: 1 }, []],
  ])("subfields of %s", (_, subfields, fields, given, expected) => {
    expect(missing({ fields, subfields } as Generator["requirements"], given)).toEqual(expected);
  });

  it("are not listed without end", () => {
    const given = { patterns: Array.from({ length: 1_500 }, () => ({})) };
    const generator: Generator = { type: "g", requirements: { fields: ["patterns[].x"] } };
    const answer = preflight(generator, { config: given, credentials: [] });
    expect(answer.missing_fields).toHaveLength(20);
    expect(answer.reasons).toContain("Missing field: patterns[].x in 980 more elements");
    expect(answer.unchecked[0]).toMatch(/^patterns\[\]\.x: only the first elements/);
  });

  it.each<[string, unknown, unknown]>([
    ["many subfields of a long list", { a: names("x", 1_000) }, { a: Array(1_000).fill(0) }],
    ["subfields of lists in lists", { a: names("x", 1_000) }, { a: Array(1_000).fill(Array(60).fill(0)) }],
    ["a deep path that is not there", { a: [names("b", 200).join(".")] }, { a: Array(1_000).fill({}) }],
    ["names that no member has", names("x", 5_000), {}],
  ])("cost no more than the budget for %s", (_, subfields, given) => {
    const visits = { count: 0 };
    const requirements = { subfields } as Generator["requirements"];
    const answer = preflight(
      { type: "g", requirements },
      { config: counted(given, visits) as Record<string, unknown>, credentials: [] },
    );
    // Every element and member that is read is counted; the values themselves are few.
    expect(visits.count).toBeGreaterThan(0);
    expect(visits.count).toBeLessThanOrEqual(3 * maxVisited);
    expect(answer.ready).toBe(false);
    expect(answer.missing_fields.length).toBeLessThanOrEqual(200);
    expect(answer.unchecked.join()).toMatch(/not looked at|only the first/);
    expect(JSON.stringify(answer).length).toBeLessThan(500_000);
  });

  it("with paths too long to be walked are said to be unchecked", () => {
    const requirements = { subfields: { a: [names("b", 20_000).join(".")] } };
    const answer = preflight({ type: "g", requirements }, { config: {}, credentials: [] });
    expect([answer.missing_fields, answer.unchecked[0]]).toEqual([[], expect.stringMatching(/^subfields: 1 paths of/)]);
  });

  it("beyond the listed ones are counted", () => {
    const answer = preflight(
      { type: "g", requirements: { subfields: names("x", 900) } },
      { config: {}, credentials: [] },
    );
    expect(answer.missing_fields).toHaveLength(200);
    expect(answer.reasons).toContain("Missing fields: 700 more");
  });
});

describe("packages", () => {
  const needs = (...dependencies: string[]): Generator => ({ type: "g", requirements: { dependencies } });
  const check = (generator: Generator, dependencies?: string[]) => {
    const answer = preflight(
      { ...generator, upstreamDependencies: null },
      { config: {}, credentials: [], ...(dependencies && { dependencies }) },
    );
    return [answer.ready, answer.missing_dependencies, answer.unchecked];
  };

  it("are unchecked until the caller names its own", () => {
    const [ready, missing, unchecked] = check(needs("numpy"));
    expect([ready, missing]).toEqual([true, []]);
    expect(unchecked).toEqual(["dependency numpy: send the names of the packages you have in `dependencies`"]);
  });

  it("that the caller does not name are missing", () => {
    expect(check(needs("numpy", "pandas"), ["numpy"])).toEqual([false, ["pandas"], []]);
    expect(check(needs("numpy"), [])).toEqual([false, ["numpy"], []]);
    expect(check(needs("numpy"), ["numpy", "more"])).toEqual([true, [], []]);
  });

  it("are compared by name, and a version is said to be unchecked", () => {
    expect(check(needs("Typing_Extensions>=4"), ["typing-extensions"])).toEqual([
      ...[true, []],
      ["dependency Typing_Extensions>=4: only its name was compared"],
    ]);
    expect(check(needs("@scope/name@^1"), ["@scope/name@^1"])).toEqual([true, [], []]);
    expect(check(needs("@scope/name@^1"), ["@scope/other"])).toEqual([false, ["@scope/name@^1"], []]);
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

  it.each<[string, string[]]>([
    ["a.b[].c", ["a.b[1].c", "a.b[2].c"]],
    ["a.b.c", ["a.b[1].c", "a.b[2].c"]],
    ["a.b[0].c", []],
    ["a.b[9].c", ["a.b[9].c"]],
    ["list[]", ["list[]"]],
    ["x.y[].z", ["x.y[].z"]],
    ["__proto__.x", ["__proto__.x"]],
  ])("%s is missing at", (path, missing) => {
    expect(missingAt(tree, path)).toEqual({ paths: missing, more: 0, isPartial: false });
  });

  it("stop where the budget is spent", () => {
    const config = { a: [{}, {}, {}] };
    expect(missingAt(config, "a.b", startCheck(6))).toEqual({ paths: ["a[0].b", "a[1].b"], more: 0, isPartial: true });
    const check = startCheck(8);
    expect(missingAt(config, "a.b", check)).toMatchObject({ paths: { length: 3 }, isPartial: false });
    expect(missingAt(config, "a.c", check)).toEqual({ paths: [], more: 0, isPartial: true });
  });

  it("call something present when there is something to work with", () => {
    const paths = ["a.b[].c", "a.b[1].c", "a.b[2].d", "list", "a.b"];
    expect(paths.map((path) => isPresent(tree, path))).toEqual([true, false, false, false, true]);
  });
});
