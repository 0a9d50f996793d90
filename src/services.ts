import { waitUntil } from "cloudflare:workers";
import { Authenticator } from "./auth/authenticator.ts";
import { createJwks } from "./auth/jwks.ts";
import type { TokenRules } from "./auth/verify-token.ts";
import { IndexTextCache } from "./capability-index/text-cache.ts";
import { EntryCache } from "./catalog/entry-cache.ts";
import { catalogForm } from "./catalog/listing.ts";
import { OwnServers } from "./catalog/own-servers.ts";
import { CatalogPages } from "./catalog/page-cache.ts";
import { type Config, readConfig } from "./config.ts";
import { PageStore } from "./console/page-store.ts";
import { SignIns } from "./console/sign-in/seal.ts";
import { StaticFiles } from "./console/static-files.ts";
import type { StoredTenants } from "./directory/deps.ts";
import { EdgeDirectory } from "./directory/edge-directory.ts";
import { serverOfItem } from "./directory/find-card.ts";
import { HookIds } from "./hooks/hook-ids.ts";
import { Cursors } from "./http/cursor.ts";
import { declaredHeaders } from "./http/declared-headers.ts";
import type { DeclaredHeaders, WorkLimiters } from "./http/deps.ts";
import { Metrics } from "./http/metrics.ts";
import { createAssetReader, type OpenApiAsset } from "./http/openapi/asset.ts";
import { ResponseStore } from "./http/response-store.ts";
import { digestOfTextSync } from "./kernel/digest.ts";
import { MemoryBudget, type MemoryCache } from "./kernel/memory-budget.ts";
import { type TenantKey, tenantKey } from "./kernel/names.ts";
import { Admission } from "./kernel/pace/admission.ts";
import { Uploads } from "./kernel/pace/uploads.ts";
import { CacheApi, type EdgeCache } from "./kernel/platform/cache-api.ts";
import { countedKv } from "./kernel/platform/counted-bindings.ts";
import { type CachedEntrypoint, PlatformCache } from "./kernel/platform/platform-cache.ts";
import { createUsage, objectUsage, sumOfUsage, type Usage } from "./kernel/platform/usage.ts";
import { RateLimiter } from "./kernel/rate-limit.ts";
import { ItemCache } from "./manifest/item-cache.ts";
import { ownIndexUris } from "./mcp/resources/index-resources.ts";
import { ownResources } from "./mcp/resources/resources.ts";
import { ownTools } from "./mcp/tools/tools.ts";
import type { Directory, StreamRpc, Tenant } from "./objects/contract.ts";
import {
  directoryOf,
  isIssuedId,
  newHookId,
  newSession,
  sessionLeases,
  sessionOf,
  streamOf,
  tenantById,
  tenantOf,
} from "./objects/stubs.ts";
import { versionColumns } from "./official/edge-versions.ts";
import { operations } from "./operations.ts";
import { isLoopback } from "./outbound/address.ts";
import { createGuardedFetch } from "./outbound/guarded-fetch.ts";
import { toStandardFetch } from "./outbound/standard-fetch.ts";
import { Bodies } from "./registry/cache/bodies.ts";
import { CurrentItems } from "./registry/cache/current-items.ts";
import { Heads } from "./registry/cache/heads.ts";
import { answerPublic, PublicAnswers } from "./registry/cache/public-answers.ts";
import { RenderedViews } from "./registry/cache/rendered-views.ts";
import { objectIndexes } from "./search/index-memory.ts";
import { wordVectors } from "./search/load-word-vectors.ts";
import { rankingForm } from "./search/public/ranking-form.ts";
import { TenantStates } from "./search/tenant-states.ts";
import type { WordVectors } from "./search/word-vectors.ts";
import { AnonymousAllowance } from "./sessions/anonymous-allowance.ts";
import { Sessions } from "./sessions/session-cache.ts";

/** Everything that routes depend on. One per isolate. */
export interface Services {
  config: Config;
  now: () => number;
  /** Names of headers that the operations declare. */
  declaredHeaders: DeclaredHeaders;
  /** The memory that all caches of this isolate share. */
  memory: MemoryBudget;
  /** Operations of the Worker code in this isolate; `metrics` adds those of the objects in the same isolate. */
  usage: Usage;
  metrics: Metrics;
  authenticator: Authenticator;
  readLimiter: RateLimiter;
  searchLimiter: RateLimiter;
  /** Places for costly requests. */
  admission: Admission;
  uploads: Uploads;
  /** Limits what one caller's requests cost, by size. */
  workLimiters: WorkLimiters;
  negotiateLimiter: RateLimiter;
  /** For callers without a token, by network; and leave of the deployment for their sessions. */
  anonymousNegotiateLimiter: RateLimiter;
  anonymousAllowance: AnonymousAllowance;
  /** Limits refreshes of a server's sources that callers request: each refresh sends requests to third parties. */
  refreshLimiter: RateLimiter;
  tenant: (key: TenantKey) => Tenant;
  tenantById: (id: string) => Tenant | undefined;
  /** Creates a new stub per use: a stub belongs to the request that created it. */
  directory: () => Directory;
  /** Writes something small to the storage of an object. */
  tryStorage: () => Promise<void>;
  sessions: Sessions;
  hookIds: HookIds;
  /** The registry's own tools and resources, for the answer to a negotiation. */
  ownOffer: { tools: readonly string[]; resources(): string[] };
  /** The stream object of one caller. */
  streams: (subject: string) => StreamRpc;
  heads: Heads;
  /** Cached lookups of whether a tenant exists, for callers outside the tenant. */
  knownTenants: MemoryCache<{ exists: boolean; until: number }>;
  bodies: Bodies;
  publicAnswers: PublicAnswers | undefined;
  /** Answers what `publicAnswers` asks, behind the platform's cache. */
  answerPublic: (request: Request) => Promise<Response>;
  itemCache: ItemCache;
  catalogPages: CatalogPages;
  catalogEntries: EntryCache;
  ownServers: OwnServers;
  tenantStates: TenantStates;
  /** The isolate's copy of everything public. */
  edgeDirectory: EdgeDirectory;
  wordVectors: () => Promise<WordVectors | undefined>;
  /** Number of writes through this isolate. */
  writes: () => number;
  /** Tenants by the keys of their heads in KV, a page at a time. */
  storedTenants: (cursor: string | undefined) => Promise<StoredTenants>;
  views: RenderedViews;
  items: CurrentItems;
  publicServerOf: (tenant: TenantKey, id: string) => Promise<string | undefined>;
  /** Texts of server.json, by where segments have them. */
  serverJsonTexts: MemoryCache<string>;
  /** Complete responses, cached to be sent again. */
  responses: ResponseStore;
  indexTexts: IndexTextCache;
  openapi: OpenApiAsset;
  /** The published JSON Schemas, by name, as JSON text. */
  publishedSchemas: () => Promise<string>;
  guideForModels: () => Promise<string>;
  /** undefined if no signing secret is configured. */
  cursors: Cursors | undefined;
  consoleFiles: StaticFiles;
  pages: PageStore;
  /** undefined if no signing secret is configured. */
  signIns: SignIns | undefined;
}

/** Dependencies that a test replaces to simulate another data centre or another time. */
export interface ServiceOverrides {
  kv?: KVNamespace;
  cache?: EdgeCache;
  now?: () => number;
  /** The cached entrypoint; by default there is none. */
  cachedEntrypoint?: CachedEntrypoint | undefined;
}

/** The composition root: the only code outside the Durable Objects that touches bindings. */
export function createServices(env: Env, surroundings: ServiceOverrides = {}): Services {
  const config = readConfig(env);
  const now = surroundings.now ?? Date.now;
  const usage = createUsage();
  const kv = countedKv(surroundings.kv ?? env.REGISTRY, usage);
  const edge = new CacheApi(surroundings.cache ?? caches.default, cacheKeysBelow(config), usage);
  const memory = new MemoryBudget(config.cacheBytes);
  memory.lend("search indexes of objects", () => objectIndexes.usage);
  const keepAlive = (promise: Promise<unknown>) => waitUntil(promise);
  const tenant = (key: TenantKey) => tenantOf(env, key, usage);
  const publicAnswers = createPublicAnswers(surroundings.cachedEntrypoint, { now, keepAlive, usage });
  const bodies = new Bodies({ edge, kv, tenant, keepAlive, shared: publicAnswers });
  const catalogPages = new CatalogPages(memory, now);
  const directory = () => directoryOf(env, usage);
  const edgeDirectory = new EdgeDirectory({
    ...{ kv, edge, directory, now, keepAlive },
    capacity: config.directoryBytes,
    forms: [catalogForm, versionColumns, rankingForm],
  });
  const readAsset = createAssetReader(env.ASSETS);
  let writes = 0;
  const tenantStates = new TenantStates({ memory, now, tenant, writes: () => writes });
  const ownServers = new OwnServers({ memory, now, directory, writes: () => writes });
  return {
    config,
    now,
    declaredHeaders: declaredHeaders(operations),
    memory,
    usage,
    metrics: new Metrics(() => sumOfUsage(usage, objectUsage), now()),
    authenticator: new Authenticator(tokenRules(config), now, memory),
    readLimiter: new RateLimiter(config.readLimit),
    searchLimiter: new RateLimiter(config.searchLimit),
    admission: new Admission(now),
    uploads: new Uploads(now),
    workLimiters: { bytes: new RateLimiter(config.workLimit.bytes), items: new RateLimiter(config.workLimit.items) },
    negotiateLimiter: new RateLimiter(config.negotiateLimit),
    anonymousNegotiateLimiter: new RateLimiter(config.anonymousNegotiateLimit.network),
    anonymousAllowance: new AnonymousAllowance({
      lease: (request) => sessionLeases(env, usage).leaseSessions(config.anonymousNegotiateLimit.anHour, request),
      now,
      pause: (milliseconds) => scheduler.wait(milliseconds),
    }),
    refreshLimiter: new RateLimiter({ rate: 1, burst: 20 }),
    tenant,
    tenantById: (id) => tenantById(env, id, usage),
    directory,
    tryStorage: () => directory().tryStorage(),
    sessions: new Sessions({
      create: () => newSession(env, usage),
      find: (id) => sessionOf(env, id, usage),
      now,
      usage,
      memory,
    }),
    hookIds: new HookIds({
      ...{ kv, memory, now, keepAlive },
      create: () => newHookId(env),
      isIssued: (id) => isIssuedId(env, id),
      ask: (key) => tenant(key).otherHookIds(),
    }),
    ownOffer: {
      tools: ownTools.map(({ name }) => name),
      resources: () => [...ownResources.map(({ uri }) => uri), ...ownIndexUris({ config })],
    },
    streams: (subject) => streamOf(env, subject, usage),
    knownTenants: memory.cache("known tenants"),
    heads: new Heads({
      ...{ edge, kv, tenant, now, memory, keepAlive },
      usage,
      publicGeneration: (ref) => edgeDirectory.confirmed()?.entry(ref)?.generation,
      currentGeneration: {
        ask: async (ref) => (await edgeDirectory.current())?.entry(ref)?.generation,
        peek: (ref) => edgeDirectory.peek()?.entry(ref)?.generation,
      },
      onWrite: (key) => {
        writes += 1;
        tenantStates.forget(key);
        ownServers.forget(key);
        catalogPages.clear();
        edgeDirectory.noteWrite();
      },
    }),
    bodies,
    publicAnswers,
    answerPublic: (request) => answerPublic(request, bodies),
    itemCache: new ItemCache(memory),
    catalogPages,
    catalogEntries: new EntryCache(memory),
    ownServers,
    tenantStates,
    edgeDirectory,
    wordVectors: () => wordVectors(env.ASSETS),
    writes: () => writes,
    storedTenants: async (cursor) => {
      const { keys, ...page } = await kv.list({ prefix: "head/", cursor });
      const tenants = [...new Set(keys.map(({ name }) => tenantKey(name.split("/")[1] ?? "")))];
      return page.list_complete ? { tenants } : { tenants, cursor: page.cursor };
    },
    views: new RenderedViews(bodies, memory, usage, publicAnswers),
    items: new CurrentItems(bodies, memory, usage, { now, writes: () => writes }),
    publicServerOf: async (key, id) => {
      const view = await edgeDirectory.current();
      return view && serverOfItem(view, key, id);
    },
    serverJsonTexts: memory.cache("server.json texts", { share: 1 / 4 }),
    responses: new ResponseStore(memory, usage),
    indexTexts: new IndexTextCache(memory, now),
    openapi: (format) => readAsset(`openapi.${format}`),
    publishedSchemas: () => readAsset("schemas.json"),
    guideForModels: () => readAsset("llms.txt"),
    cursors: config.signingSecret && new Cursors(config.signingSecret),
    consoleFiles: new StaticFiles(env.ASSETS),
    pages: new PageStore(memory),
    signIns: config.signingSecret && new SignIns(config.signingSecret, tokenSecret(config)),
  };
}

function createPublicAnswers(
  entrypoint: CachedEntrypoint | undefined,
  options: Pick<ConstructorParameters<typeof PlatformCache>[0], "now" | "keepAlive" | "usage">,
): PublicAnswers | undefined {
  if (entrypoint === undefined) return undefined;
  const wait = (milliseconds: number) => scheduler.wait(milliseconds);
  return new PublicAnswers(new PlatformCache({ ...options, entrypoint, wait }));
}

/**
 * The URL that all keys of the Cache API start with. Below the Worker's own host, where the platform finds them fastest;
 * the digest of a secret makes the URLs unguessable, in case some paths of that host are not routed to the Worker. A
 * deployment that does not know its host uses a reserved domain, which no request can reach.
 */
function cacheKeysBelow({ publicUrl, signingSecret }: Config): string {
  if (publicUrl === undefined || signingSecret === undefined) return "https://rollcall.invalid";
  return `${publicUrl}/.cache/${digestOfTextSync(`cache keys ${new TextDecoder().decode(signingSecret)}`)}`;
}

function tokenSecret({ tokenKeys }: Config): Uint8Array | undefined {
  return tokenKeys?.kind === "secret" ? tokenKeys.secret : undefined;
}

function tokenRules(config: Config): TokenRules | undefined {
  const { issuer, audience, tokenKeys, publicUrl } = config;
  if (tokenKeys === undefined) return undefined;
  const keys =
    tokenKeys.kind === "secret"
      ? tokenKeys
      : {
          kind: "jwks" as const,
          jwks: createJwks({ url: tokenKeys.url, fetch: keysFetch(tokenKeys.url), keepAlive: waitUntil }),
        };
  const resources = publicUrl === undefined ? [] : [publicUrl, `${publicUrl}/mcp`];
  return { issuer, audience, resources, keys, maxLifetimeSeconds: 86_400, leewaySeconds: 60 };
}

/**
 * Guarded like every outbound request. Loopback is allowed only if the operator configured a loopback URL, as in
 * development.
 */
function keysFetch(url: string): (request: Request) => Promise<Response> {
  const policy = { ownHosts: [], allowLoopback: isLoopback(new URL(url)) };
  return toStandardFetch(createGuardedFetch({ policy, fetch: (request) => fetch(request) }));
}
