/** Schemas of what commands print with --json. Most are the `data` of an answer of the API. */

export type Json = Record<string, unknown>;

const text = { type: "string" };
const flag = { type: "boolean" };
const count = { type: "integer" };
const any = {};
const nullable = (schema: Json) => ({ anyOf: [schema, { type: "null" }] });
const list = (items: Json) => ({ type: "array", items });
const of = (name: string): Json => ({ $ref: `#/components/${name}` });
/** Required unless the name ends with a question mark. */
function object(properties: Record<string, Json>, rest: Json = { additionalProperties: false }): Json {
  const entries = Object.entries(properties).map(([name, schema]): [string, Json] => [name.replace(/\?$/, ""), schema]);
  const required = Object.keys(properties).filter((name) => !name.endsWith("?"));
  return { type: "object", properties: Object.fromEntries(entries), required, ...rest };
}
const open = { additionalProperties: true };

const identity = object({
  url: text,
  subject: nullable(text),
  tenants: list(text),
  scopes: list(text),
  admin: flag,
  expiresAt: nullable(text),
});

const change = object({
  server: text,
  outcome: text,
  digest: text,
  generation: nullable(count),
  changes: of("ChangeCounts"),
  flags: list(of("Flag")),
  rejected: list(of("Rejection")),
  warnings: list(text),
  kept: list(any),
  cost: nullable(object({ before: count, after: count })),
  dryRun: flag,
  pending: any,
});

const finding = object({
  item: text,
  finding: text,
  "class?": { enum: ["breaking", "additive", "cosmetic", "removed", "unknown"] },
  level: { enum: ["fail", "warn", "note"] },
  "from?": text,
  "to?": text,
  reasons: list(text),
  "before?": any,
  "after?": any,
});

const locked = object({
  "version?": text,
  "digest?": text,
  "partial?": { const: true },
  tokens: count,
  "flags?": list(text),
  capabilities: { type: "object", additionalProperties: object({ digest: text, tokens: count, "flags?": list(text) }) },
});

const definitions = object({
  ...{ definitions: list(any), tokens: count, names: { type: "object", additionalProperties: of("SentItem") } },
  ...{ leftOut: list(object({ reason: text, "message?": text }, open)), moreLeftOut: count },
});
const written = object({ server: text, "generation?": count }, open);

const outputs: Record<string, Json> = {
  login: identity,
  logout: object({ profiles: list(text) }),
  whoami: identity,
  doctor: object({ checks: list(object({ id: text, ok: flag, message: text, "fix?": text })) }),
  search: { anyOf: [of("SearchPage"), definitions] },
  list: of("CatalogPage"),
  show: {
    anyOf: [
      of("Capabilities"),
      of("WholeRevision"),
      object({
        server: text,
        item: text,
        "id?": text,
        digest: text,
        tokens: count,
        flags: list(any),
        definition: { type: "object" },
      }),
    ],
  },
  publish: { anyOf: [change, written] },
  import: object({ server: text, dryRun: flag, outcome: text, digest: text, counts: { type: "object" } }, open),
  init: object({ file: text, manifest: { type: "object" } }),
  validate: object({
    ...{ ok: flag, file: text, counts: { type: "object" } },
    ...{ issues: list(object({ path: text, message: text })), warnings: list(text), flags: list(any) },
  }),
  history: of("RevisionPage"),
  diff: of("RevisionDiff"),
  "restore-revision": object(
    { server: text, dryRun: flag, outcome: text, digest: text, changes: of("ChangeCounts") },
    open,
  ),
  pin: object({ lock: text, servers: { type: "object", additionalProperties: locked } }),
  verify: object({
    ...{ ok: flag, registry: text },
    servers: list(
      object({
        server: text,
        ok: flag,
        locked: nullable(text),
        current: nullable(text),
        items: count,
        findings: list(finding),
      }),
    ),
  }),
  watch: { allOf: [of("ChainedChange"), object({ tenant: text }, open)] },
  negotiate: of("ContextAnswer"),
  index: { anyOf: [of("BudgetIndex"), of("IndexStats"), object({ index: text })] },
  "hooks list": of("HookList"),
  "hooks add": of("RegisteredHook"),
  "hooks show": of("HookWithDeliveries"),
  "hooks rotate": of("RotatedHook"),
  "hooks on": of("Hook"),
  "hooks off": of("Hook"),
  "hooks remove": of("RemovedHook"),
  "hooks send": of("EventResult"),
  "subscriptions list": of("SubscriptionList"),
  "subscriptions add": of("CreatedSubscription"),
  "subscriptions show": of("SubscriptionWithAttempts"),
  "subscriptions test": of("TestDelivery"),
  "subscriptions rotate": of("RotatedSubscription"),
  "subscriptions pause": of("Subscription"),
  "subscriptions resume": of("Subscription"),
  "subscriptions remove": of("RemovedSubscription"),
  "server create": written,
  "server edit": written,
  "server delete": written,
  "server refresh": { allOf: [of("RefreshResult"), object({ server: text }, open)] },
  "server on": written,
  "server off": written,
  flags: object({ items: list({ allOf: [of("FlaggedContent"), object({ tenant: text }, open)] }) }),
  config: {
    anyOf: [
      object({
        ...{ client: text, path: nullable(text), language: { enum: ["json", "toml", "sh"] }, snippet: text },
        ...{ "link?": text, "command?": text, asks: list(any), notes: list(text) },
        ...{ "written?": flag, "backup?": nullable(text), "difference?": list(text) },
      }),
      object({ client: text, path: text, removed: flag, backup: nullable(text), difference: list(text) }),
    ],
  },
  token: object({ token: text }),
  open: object({ url: text }),
  completion: object({ shell: text, script: text }),
  error: object({
    error: object({
      ...{ code: text, status: count, message: text, "where?": text, "details?": any, "hint?": text },
      ...{ "requestId?": text, "lines?": list(text) },
    }),
  }),
};

const componentPrefix = "#/components/schemas/";

/** One document: a definition for each command, and the schemas of the API that they refer to. */
export function commandOutputSchema(schemas: Record<string, Json>): Json {
  const used = new Map<string, unknown>();
  const inlined = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inlined);
    if (typeof value !== "object" || value === null) return value;
    const { $ref } = value as { $ref?: unknown };
    if (typeof $ref === "string") {
      const name = $ref.replace(componentPrefix, "").replace("#/components/", "");
      if (!used.has(name)) {
        if (schemas[name] === undefined) throw new Error(`The API has no schema ${name}`);
        used.set(name, undefined);
        used.set(name, inlined(schemas[name]));
      }
      return { ...(value as Json), $ref: `#/$defs/${name}` };
    }
    return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, inlined(child)]));
  };
  const commands = Object.fromEntries(Object.entries(outputs).map(([name, schema]) => [name, inlined(schema)]));
  const components = Object.fromEntries([...used].sort(([a], [b]) => (a < b ? -1 : 1)));
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: "command-output.schema.json",
    title: "What rollcall prints with --json",
    description:
      "A definition for each command; `error` is what stands on stderr if it fails. watch prints one object a line.",
    $defs: { ...commands, ...components },
  };
}
