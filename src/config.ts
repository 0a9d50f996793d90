import { type Bounds, defaultBounds } from "./kernel/bounds.ts";
import { loopbackNames } from "./kernel/names.ts";
import type { Limit } from "./kernel/rate-limit.ts";

export const indexVariants = ["summary", "full", "stats"] as const;

export type IndexVariant = (typeof indexVariants)[number];

/** Which variants of an index anyone may read. */
export type Advertised = Readonly<Record<IndexVariant, boolean>>;

export const nothingAdvertised: Advertised = { summary: false, full: false, stats: false };

/** Where token keys come from. Without any, authenticated routes answer 503. */
export type TokenKeys = { kind: "secret"; secret: Uint8Array } | { kind: "jwks"; url: string };

export interface Config {
  issuer: string;
  audience: string;
  tokenKeys: TokenKeys | undefined;
  /** Where clients get tokens. */
  authorizationServers: readonly string[];
  /** Where the world reaches this deployment; the request's own origin when unset. */
  publicUrl: string | undefined;
  /** Signs cursors. */
  signingSecret: Uint8Array | undefined;
  corsOrigins: readonly string[] | "*";
  /** Origins whose pages may call /mcp; those of this machine may in any case. */
  mcpOrigins: readonly string[] | "*";
  /** Host names that /mcp answers to; undefined leaves it to whoever routes requests here. */
  mcpHosts: readonly string[] | undefined;
  readLimit: Limit;
  writeLimit: Limit;
  negotiateLimit: Limit;
  /** Whether a request below /mcp/ must carry a session id. */
  requireNegotiation: boolean;
  sessionRequirements: readonly SessionRequirement[];
  /** Without these no session is opened. */
  requiredCapabilities: readonly string[];
  /** Which variants of the registry's own capability index are resources of it. */
  advertisedIndex: Advertised;
  slowMs: number;
  /** For development: requests of the registry's own may go to this machine. */
  allowLoopbackFetch: boolean;
  /** By tenant and name. A tenant can name only its own. */
  sourceCredentials: ReadonlyMap<string, ReadonlyMap<string, SourceCredential>>;
  bounds: Bounds;
}

/** What a client must have declared to use paths that start with a prefix. */
export interface SessionRequirement {
  prefix: string;
  capabilities: readonly string[];
}

/** A credential for a source: sent in a header, to one origin and no other. */
export interface SourceCredential {
  value: string;
  origin: string;
}

/** Set with `wrangler secret put`, so they are in no file that types are generated from. */
interface Secrets {
  JWT_SECRET?: string;
  SIGNING_SECRET?: string;
  SOURCE_CREDENTIALS?: string;
}

/** A setting that cannot be read: the deployment is told which, instead of running on something it did not ask for. */
export class ConfigError extends Error {}

const parsed = new WeakMap<object, Config>();

/** Environment → configuration, read once an isolate. */
export function readConfig(env: Env): Config {
  let config = parsed.get(env);
  if (config === undefined) {
    config = parse(env as Omit<Env, keyof Secrets> & Secrets);
    parsed.set(env, config);
  }
  return config;
}

function parse(env: Omit<Env, keyof Secrets> & Secrets): Config {
  const secret = readSecret("JWT_SECRET", env.JWT_SECRET);
  const jwksUrl = readUrl("JWKS_URL", env.JWKS_URL);
  // Never both: a deployment that trusts an identity provider must not also take tokens signed with a shared secret.
  const tokenKeys: TokenKeys | undefined =
    jwksUrl !== undefined ? { kind: "jwks", url: jwksUrl } : secret && { kind: "secret", secret };
  const publicUrl = readOrigin("PUBLIC_URL", env.PUBLIC_URL);
  const corsOrigins = readOrigins(env.CORS_ORIGINS);
  return {
    issuer: env.JWT_ISSUER || "rollcall",
    audience: env.JWT_AUDIENCE || "rollcall",
    tokenKeys,
    authorizationServers: readServers("AUTHORIZATION_SERVERS", env.AUTHORIZATION_SERVERS, env.JWT_ISSUER, jwksUrl),
    publicUrl,
    signingSecret: readSecret("SIGNING_SECRET", env.SIGNING_SECRET) ?? secret,
    corsOrigins,
    mcpOrigins: readMcpOrigins(env.MCP_ORIGINS, corsOrigins, publicUrl),
    mcpHosts: readHosts(env.MCP_HOSTS, publicUrl),
    readLimit: readLimit("READ_LIMIT", env.READ_LIMIT, { rate: 1_000, burst: 2_000 }),
    writeLimit: readLimit("WRITE_LIMIT", env.WRITE_LIMIT, { rate: 100, burst: 1_000 }),
    negotiateLimit: readLimit("NEGOTIATE_LIMIT", env.NEGOTIATE_LIMIT, { rate: 20, burst: 200 }),
    requireNegotiation: readFlag("REQUIRE_NEGOTIATION", env.REQUIRE_NEGOTIATION),
    sessionRequirements: readRequirements("SESSION_REQUIREMENTS", env.SESSION_REQUIREMENTS),
    requiredCapabilities: readList(env.REQUIRED_CAPABILITIES),
    advertisedIndex: readVariants("ADVERTISE_INDEX", env.ADVERTISE_INDEX),
    slowMs: readNumber("SLOW_MS", env.SLOW_MS, 1_000),
    allowLoopbackFetch: readFlag("ALLOW_LOOPBACK_FETCH", env.ALLOW_LOOPBACK_FETCH),
    sourceCredentials: readCredentials("SOURCE_CREDENTIALS", env.SOURCE_CREDENTIALS),
    bounds: defaultBounds,
  };
}

function readSecret(name: string, value: string | undefined): Uint8Array | undefined {
  if (value === undefined || value === "") return undefined;
  const bytes = new TextEncoder().encode(value);
  if (bytes.byteLength < 32) throw new ConfigError(`${name} must be at least 32 bytes`);
  return bytes;
}

function readUrl(name: string, value: string | undefined): string | undefined {
  if (value === undefined || value === "") return undefined;
  const url = URL.parse(value);
  const loopback = url !== null && loopbackNames.includes(url.hostname);
  if (url === null || !(url.protocol === "https:" || (url.protocol === "http:" && loopback))) {
    throw new ConfigError(`${name} must be an https URL`);
  }
  return url.href;
}

/** Links and metadata are at the root of a host, so no path can come before them. */
function readOrigin(name: string, value: string | undefined): string | undefined {
  const url = readUrl(name, value);
  if (url === undefined || url.replace(/\/$/, "") === new URL(url).origin) return url && new URL(url).origin;
  throw new ConfigError(`${name} must be an origin such as https://registry.example.com, without a path`);
}

/** Those that are named; else the issuer behind the keys, where its name is an address. */
function readServers(
  name: string,
  value: string | undefined,
  issuer: string | undefined,
  jwksUrl: string | undefined,
): string[] {
  const named = readList(value);
  for (const server of named) readUrl(name, server);
  if (named.length > 0) return named;
  return jwksUrl !== undefined && issuer !== undefined && URL.canParse(issuer) ? [issuer] : [];
}

function readOrigins(value: string | undefined): Config["corsOrigins"] {
  return value === undefined || value.trim() === "*" ? "*" : readList(value);
}

/** Any page may read what is public, but only pages that are named may speak MCP: "*" for the one is not for the other. */
function readMcpOrigins(
  value: string | undefined,
  corsOrigins: Config["corsOrigins"],
  publicUrl: string | undefined,
): Config["mcpOrigins"] {
  if (value?.trim() === "*") return "*";
  const own = publicUrl === undefined ? [] : [new URL(publicUrl).origin];
  return [...readList(value), ...(corsOrigins === "*" ? [] : corsOrigins), ...own];
}

function readHosts(value: string | undefined, publicUrl: string | undefined): Config["mcpHosts"] {
  const named = readList(value).map((name) => {
    const url = URL.parse(`http://${name}`);
    if (url === null || url.port !== "" || url.pathname !== "/" || /[@?#]/.test(name)) {
      throw new ConfigError("MCP_HOSTS must be a list of host names, without ports");
    }
    return url.hostname;
  });
  if (named.length > 0) return named;
  return publicUrl === undefined ? undefined : [new URL(publicUrl).hostname, ...loopbackNames];
}

function readList(value: string | undefined): string[] {
  return (value ?? "")
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

function readVariants(name: string, value: string | undefined): Advertised {
  const wanted = readList(value);
  const known: readonly string[] = indexVariants;
  if (wanted.some((variant) => !known.includes(variant))) {
    throw new ConfigError(`${name} must be a list of ${indexVariants.join(", ")}`);
  }
  return { ...nothingAdvertised, ...Object.fromEntries(wanted.map((variant) => [variant, true])) };
}

function readFlag(name: string, value: string | undefined): boolean {
  if (value === undefined || value === "" || value === "false") return false;
  if (value === "true") return true;
  throw new ConfigError(`${name} must be true or false`);
}

const defaultRequirements: readonly SessionRequirement[] = [
  { prefix: "/mcp/tool/", capabilities: ["sampling"] },
  { prefix: "/mcp/subscription/", capabilities: ["notifications"] },
];

function readRequirements(name: string, value: string | undefined): readonly SessionRequirement[] {
  if (value === undefined || value === "") return defaultRequirements;
  const form = `${name} must be JSON such as {"/mcp/tool/": ["sampling"]}`;
  let table: unknown;
  try {
    table = JSON.parse(value);
  } catch {
    throw new ConfigError(form);
  }
  if (typeof table !== "object" || table === null || Array.isArray(table)) throw new ConfigError(form);
  const requirements = Object.entries(table).map(([prefix, capabilities]) => {
    const named = Array.isArray(capabilities) && capabilities.every((item) => typeof item === "string");
    if (!prefix.startsWith("/mcp/") || !named) throw new ConfigError(form);
    return { prefix, capabilities: capabilities as string[] };
  });
  // The longest prefix first: the first that matches is the one that counts.
  return requirements.sort((a, b) => b.prefix.length - a.prefix.length);
}

function readLimit(name: string, value: string | undefined, fallback: Limit): Limit {
  if (value === undefined || value === "") return fallback;
  const match = /^(\d+)\/(\d+)$/.exec(value);
  const [rate, burst] = [Number(match?.[1]), Number(match?.[2])];
  if (match === null || rate < 1 || burst < 1) throw new ConfigError(`${name} must be "rate/burst", such as 100/1000`);
  return { rate, burst };
}

function readNumber(name: string, value: string | undefined, fallback: number): number {
  if (value === undefined || value === "") return fallback;
  const number = Number(value);
  if (!Number.isFinite(number) || number < 0) throw new ConfigError(`${name} must be a number`);
  return number;
}

/** `{"acme": {"github": {"value": "Bearer …", "origin": "https://mcp.example.com"}}}` */
function readCredentials(name: string, value: string | undefined): Config["sourceCredentials"] {
  if (value === undefined || value === "") return new Map();
  const form = new ConfigError(`${name} must be JSON: tenant → name → {"value": "…", "origin": "https://…"}`);
  let table: unknown;
  try {
    table = JSON.parse(value);
  } catch {
    // The text is a secret: nothing of it is told.
    throw form;
  }
  if (!isRecord(table)) throw form;
  return new Map(
    Object.entries(table).map(([tenant, named]) => {
      if (!isRecord(named)) throw form;
      return [
        tenant,
        new Map(Object.entries(named).map(([key, credential]) => [key, readCredential(credential, form)])),
      ];
    }),
  );
}

function readCredential(credential: unknown, form: ConfigError): SourceCredential {
  if (!isRecord(credential)) throw form;
  const { value, origin } = credential;
  if (typeof value !== "string" || typeof origin !== "string" || URL.parse(origin)?.origin !== origin) throw form;
  return { value, origin };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
