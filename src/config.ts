import { z } from "zod";
import { type AdjustableBound, type Bounds, defaultBounds } from "./kernel/bounds.ts";
import { isObject } from "./kernel/json.ts";
import { loopbackNames, tenantKey } from "./kernel/names.ts";
import type { Limit } from "./kernel/rate-limit.ts";
import { readJson } from "./kernel/read-json.ts";

export const indexVariants = ["summary", "full", "stats"] as const;

export type IndexVariant = (typeof indexVariants)[number];

/** Which variants of an index are advertised as resources. */
export type Advertised = Readonly<Record<IndexVariant, boolean>>;

export const nothingAdvertised: Advertised = { summary: false, full: false, stats: false };

/** Where token keys come from. Without token keys, authenticated routes respond with 503. */
type TokenKeys = { kind: "secret"; secret: Uint8Array } | { kind: "jwks"; url: string };

/** The capabilities that a client must have declared to use paths that start with a prefix. */
export interface SessionRequirement {
  prefix: string;
  capabilities: readonly string[];
}

/** A credential for a source: sent in a header, to one origin and no other. */
const SourceCredential = z.object({
  value: z.string(),
  origin: z.string().refine((origin) => URL.parse(origin)?.origin === origin),
});

/** An invalid setting. The registry reports the setting instead of falling back to a default. */
export class ConfigError extends Error {}

/** wrangler.toml lists every variable, so an empty variable counts as unset. */
const unlessEmpty = (value: unknown) => (value === "" ? undefined : value);

const text = (fallback: string, message = "must be text") =>
  z.preprocess(unlessEmpty, z.string(message).prefault(fallback));

const list = text("").transform(splitList);

/** An empty value is a list without origins, not an unset variable. */
const origins = z.string("must be text").transform((value) => (value.trim() === "*" ? "*" : splitList(value)));

const flag = text("false", "must be true or false")
  .pipe(z.enum(["true", "false"], "must be true or false"))
  .transform((value) => value === "true");

const secret = text("", "must be at least 32 bytes")
  .transform((value) => (value === "" ? undefined : new TextEncoder().encode(value)))
  .refine((bytes) => bytes === undefined || bytes.byteLength >= 32, "must be at least 32 bytes");

const url = text("", "must be an https URL")
  .refine((value) => value === "" || isHttps(value), "must be an https URL")
  .transform((value) => (value === "" ? undefined : new URL(value)));

const megabytes = (fallback: number, least: number, most: number) => {
  const message = `must be a number from ${least} to ${most}`;
  return z
    .preprocess(
      (value) => (typeof value === "string" && /^\d+(\.\d+)?$/.test(value) ? Number(value) : unlessEmpty(value)),
      z.number(message).prefault(fallback),
    )
    .refine((value) => value >= least && value <= most, message);
};

/** Two numbers above 0, as `a/b`. */
const pair = (fallback: string, form: string) =>
  text(fallback, form)
    .refine((value) => /^0*[1-9]\d*\/0*[1-9]\d*$/.test(value), form)
    .transform((value) => value.split("/").map(Number));

const limit = (fallback: string) =>
  pair(fallback, 'must be "rate/burst", such as 100/1000').transform(
    ([rate = 0, burst = 0]): Limit => ({ rate, burst }),
  );

/** So much in every so many seconds, and no more at once. */
const every = (seconds: number, amount: number): Limit => ({ rate: amount / seconds, burst: amount });

/** JSON that fits a schema. The message shows the expected form and no part of the value, which may be a secret. */
const json = <T extends z.ZodType>(schema: T, fallback: string, message: string) =>
  text(fallback, message).transform((value, ctx): z.output<T> => {
    try {
      return schema.parse(readJson(value));
    } catch {
      ctx.addIssue(message);
      return z.NEVER;
    }
  });

/** An object as a map. Unlike z.record, this checks a member named `__proto__` as well. */
const members = <K extends z.ZodType, V extends z.ZodType>(key: K, value: V) =>
  z
    .custom<object>(isObject)
    .transform((object) => new Map<unknown, unknown>(Object.entries(object)))
    .pipe(z.map(key, value));

const requirements = members(z.string().startsWith("/mcp/"), z.array(z.string())).transform((table) =>
  Array.from(table, ([prefix, capabilities]): SessionRequirement => ({ prefix, capabilities }))
    // The session middleware uses the first match, so the longest prefix comes first.
    .sort((a, b) => b.prefix.length - a.prefix.length),
);

/** A tenant counts in any spelling, so it may have only one member. */
const credentials = members(z.string(), members(z.string(), SourceCredential))
  .refine((table) => new Set([...table.keys()].map(tenantKey)).size === table.size)
  .transform((table) => new Map(Array.from(table, ([tenant, secrets]) => [tenantKey(tenant), secrets])));

/** The bounds that an operator may move. Rows of SQLite, values of KV and the memory of an isolate set the upper ends. */
const adjustableBounds = z.strictObject(
  Object.fromEntries(
    Object.entries({ configBytes: 1, capabilityBytes: 1, manifestBytes: 16, importBytes: 32 }).map(
      ([name, mebibytes]) => [
        name,
        z
          .int()
          .min(1_024)
          .max(mebibytes * 1024 * 1024)
          .optional(),
      ],
    ),
  ) as Record<AdjustableBound, z.ZodOptional<z.ZodInt>>,
);

/** Every setting, by environment variable. If several are invalid, the error names the first in this order. */
export const Settings = z.object({
  JWT_SECRET: secret.describe("Key of HS256 tokens, at least 32 bytes; not used for tokens where JWKS_URL is set."),
  JWKS_URL: url
    .transform((value) => value?.href)
    .describe("https URL of an identity provider's keys, for RS256, ES256 and EdDSA tokens; HS256 is then refused."),
  PUBLIC_URL: url
    // Links and metadata are served at the root of a host, so a path prefix is not possible.
    .refine(
      (value) => value === undefined || value.href === `${value.origin}/`,
      "must be an origin such as https://registry.example.com, without a path",
    )
    .describe("Origin where clients reach the deployment; by default the origin of each request."),
  CORS_ORIGINS: origins
    .prefault("*")
    .describe("Comma-separated origins whose pages may call the registry, or * for any page; empty allows none."),
  JWT_ISSUER: text("rollcall").describe("Issuer that a token must carry."),
  JWT_AUDIENCE: text("rollcall").describe("Audience a token must carry; PUBLIC_URL and its /mcp count as well."),
  AUTHORIZATION_SERVERS: list
    .refine((servers) => servers.every(isHttps), "must be an https URL")
    .describe("Comma-separated URLs where clients get tokens; with JWKS_URL, by default JWT_ISSUER if that is a URL."),
  SIGNING_SECRET: secret.describe("Key that signs list cursors, at least 32 bytes; by default JWT_SECRET."),
  MCP_ORIGINS: origins
    .prefault("")
    .describe("Comma-separated origins whose pages may call /mcp, or *; PUBLIC_URL and named CORS_ORIGINS always may."),
  MCP_HOSTS: list
    .refine((hosts) => hosts.every(isHostName), "must be a list of host names, without ports")
    .transform((hosts) => hosts.map((name) => new URL(`http://${name}`).hostname))
    .describe(
      "Comma-separated host names where clients reach the deployment: /mcp refuses others, and links name no others; by default PUBLIC_URL's and loopback, or any without PUBLIC_URL.",
    ),
  DEFAULT_ORIGIN: text("")
    .refine(
      (value) => value === "" || URL.parse(value)?.origin === value,
      "must be an origin such as http://10.0.0.1:8787",
    )
    .describe(
      "Origin of links for requests that name a host outside MCP_HOSTS, without PUBLIC_URL; by default the first of MCP_HOSTS, with https. The embedded server sets its own.",
    ),
  CLIENT_ADDRESS: text("CF-Connecting-IP")
    .refine((value) => /^[A-Za-z0-9-]{1,64}$/.test(value), "must be the name of a header, or socket")
    .transform((value) => (value === "socket" ? undefined : value))
    .describe(
      "Header that has a caller's address, which the proxy in front must set on every request; socket: the connection's own, as the embedded server sets.",
    ),
  READ_LIMIT: limit("1000/2000").describe("Reads of one caller, a second / at once, counted in each isolate."),
  WRITE_LIMIT: limit("100/1000").describe("Writes of one caller, a second / at once, counted for each tenant."),
  SEARCH_LIMIT: limit("50/400").describe(
    "Searches and budgeted indexes of one caller that are worked out, a second / at once, counted in each isolate; those answered from memory do not count.",
  ),
  NEGOTIATE_LIMIT: limit("20/200").describe("Negotiations of one caller, a second / at once, counted in each isolate."),
  ANONYMOUS_NEGOTIATE_LIMIT: pair("30/10000", 'must be "a minute/an hour", such as 30/10000')
    .transform(([aMinute = 0, anHour = 0]) => ({ network: every(60, aMinute), anHour }))
    .describe(
      "Sessions that callers without a token open: of one network (/64) a minute, counted in each isolate / of all an hour, in the deployment.",
    ),
  WORK_LIMIT: pair("64/50000", 'must be "MiB/items", such as 64/50000')
    .transform(([mebibytes = 0, items = 0]) => ({
      bytes: every(60, mebibytes * 1024 * 1024),
      items: every(60, items),
    }))
    .describe(
      "MiB of bodies / items published, imported or rendered into an index, of one caller a minute, counted in each isolate.",
    ),
  REQUIRE_NEGOTIATION: flag.describe(
    "Whether a request below /mcp/, or one for content at /mcp, must carry a session id.",
  ),
  SESSION_REQUIREMENTS: json(
    requirements,
    '{"/mcp/tool/": ["sampling"], "/mcp/subscription/": ["notifications"]}',
    'must be JSON such as {"/mcp/tool/": ["sampling"]}',
  ).describe("Capabilities that a client must have declared, by path prefix; the longest prefix that matches counts."),
  REQUIRED_CAPABILITIES: list.describe("Comma-separated capabilities without which no session is opened."),
  ADVERTISE_INDEX: list
    .pipe(z.array(z.enum(indexVariants, `must be a list of ${indexVariants.join(", ")}`)))
    .transform((names) => ({ ...nothingAdvertised, ...Object.fromEntries(names.map((name) => [name, true])) }))
    .describe("Comma-separated variants (summary, full, stats) of the registry's own index that are resources."),
  CACHE_MB: megabytes(24, 1, 64).describe(
    "Megabytes that all caches in an isolate's memory share; an isolate has 128 in all.",
  ),
  DIRECTORY_MB: megabytes(56, 0, 80).describe(
    "Megabytes for the copy of everything public in an isolate's memory; 0: the directory's object answers each time, and writes none.",
  ),
  SLOW_MS: z
    // Not `text`: wrangler.toml may hold a number.
    .preprocess(unlessEmpty, z.coerce.number("must be a number").prefault(1_000))
    .refine((value) => value >= 0, "must be a number")
    .describe("Requests slower than this many milliseconds log a line."),
  DISCARD_REFUSED_BODIES: flag.describe(
    "Whether up to 32 MiB of a refused body are received and dropped, so that its sender reads the answer; the embedded server sets it, because it has no proxy in front.",
  ),
  ALLOW_LOOPBACK_FETCH: flag.describe("For development: whether the registry may send requests to its own machine."),
  BOUNDS: json(
    adjustableBounds,
    "{}",
    'must be JSON such as {"manifestBytes": 12582912}: whole bytes from 1024, configBytes and capabilityBytes up to 1 MiB, manifestBytes up to 16, importBytes up to 32',
  ).describe(
    "Other sizes than the defaults that may be sent, in bytes: configBytes, capabilityBytes, manifestBytes, importBytes.",
  ),
  SOURCE_CREDENTIALS: json(
    credentials,
    "{}",
    'must be JSON: tenant → name → {"value": "…", "origin": "https://…"}, each tenant once',
  ).describe("Credentials for sources, by tenant and name."),
});

export type Config = Readonly<ReturnType<typeof derive>>;

const configs = new WeakMap<object, Config>();

/** Environment → configuration, parsed once per isolate. */
export function readConfig(env: object): Config {
  let config = configs.get(env);
  if (config === undefined) {
    const { success, data, error } = Settings.safeParse(env);
    if (!success) throw new ConfigError(error.issues.map(({ path, message }) => `${String(path[0])} ${message}`)[0]);
    config = derive(data);
    configs.set(env, config);
  }
  return config;
}

/** Settings under the names that the code uses. Settings that depend on others get their values here. */
function derive(settings: z.output<typeof Settings>) {
  const { JWT_SECRET: key, JWKS_URL: jwks, JWT_ISSUER: issuer, PUBLIC_URL: publicUrl, CORS_ORIGINS: cors } = settings;
  const { AUTHORIZATION_SERVERS: servers, MCP_ORIGINS: mcp, MCP_HOSTS: hosts } = settings;
  // Never both: a deployment that trusts an identity provider must not also accept tokens signed with a shared secret.
  const tokenKeys: TokenKeys | undefined = jwks ? { kind: "jwks", url: jwks } : key && { kind: "secret", secret: key };
  const issuers = jwks && URL.canParse(issuer) ? [issuer] : [];
  return {
    issuer,
    audience: settings.JWT_AUDIENCE,
    tokenKeys,
    authorizationServers: servers.length > 0 ? servers : issuers,
    publicUrl: publicUrl?.origin,
    signingSecret: settings.SIGNING_SECRET ?? key,
    corsOrigins: cors,
    /** Any page may read public data, but only named origins may call /mcp: "*" in CORS_ORIGINS does not count here. */
    mcpOrigins: mcp === "*" ? "*" : [mcp, cors === "*" ? [] : cors, publicUrl?.origin ?? []].flat(),
    /** Of /mcp and of links. If undefined, every host name is accepted: the router in front of the registry decides. */
    mcpHosts: hosts.length > 0 ? hosts : publicUrl && [publicUrl.hostname, ...loopbackNames],
    defaultOrigin: settings.DEFAULT_ORIGIN || (hosts.length > 0 ? `https://${hosts[0]}` : ""),
    /** If undefined, the connection itself tells the address. */
    clientAddressHeader: settings.CLIENT_ADDRESS,
    readLimit: settings.READ_LIMIT,
    writeLimit: settings.WRITE_LIMIT,
    searchLimit: settings.SEARCH_LIMIT,
    negotiateLimit: settings.NEGOTIATE_LIMIT,
    anonymousNegotiateLimit: settings.ANONYMOUS_NEGOTIATE_LIMIT,
    workLimit: settings.WORK_LIMIT,
    requireNegotiation: settings.REQUIRE_NEGOTIATION,
    sessionRequirements: settings.SESSION_REQUIREMENTS,
    requiredCapabilities: settings.REQUIRED_CAPABILITIES,
    advertisedIndex: settings.ADVERTISE_INDEX,
    cacheBytes: settings.CACHE_MB * 1024 * 1024,
    directoryBytes: settings.DIRECTORY_MB * 1024 * 1024,
    slowMs: settings.SLOW_MS,
    discardRefusedBodies: settings.DISCARD_REFUSED_BODIES,
    allowLoopbackFetch: settings.ALLOW_LOOPBACK_FETCH,
    sourceCredentials: settings.SOURCE_CREDENTIALS,
    bounds: boundsWith(settings.BOUNDS),
  };
}

/** An event of a hook is a manifest in its envelope. */
function boundsWith(changed: z.output<typeof adjustableBounds>): Bounds {
  const bounds = { ...defaultBounds, ...changed };
  const envelope = defaultBounds.eventBytes - defaultBounds.manifestBytes;
  return { ...bounds, eventBytes: bounds.manifestBytes + envelope };
}

function splitList(value: string): readonly string[] {
  const items = value.split(",").map((item) => item.trim());
  return items.filter((item) => item !== "");
}

function isHttps(value: string): boolean {
  const parsed = URL.parse(value);
  return parsed?.protocol === "https:" || (parsed?.protocol === "http:" && loopbackNames.includes(parsed.hostname));
}

function isHostName(value: string): boolean {
  const parsed = URL.parse(`http://${value}`);
  return parsed?.port === "" && parsed.pathname === "/" && !/[@?#]/.test(value);
}
