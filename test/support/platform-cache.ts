import type { CachedEntrypoint } from "../../src/kernel/platform/platform-cache.ts";

/**
 * The platform's cache as its documentation describes it, in front of an entrypoint: what is in the key, what is not stored, what
 * a purge takes. docs/explanation/decisions/0025-the-platforms-cache.md has each rule with the page it comes from.
 */
export class PlatformCacheDouble {
  readonly #entries = new Map<string, Entry[]>();
  readonly #now: () => number;
  #calls: number[] = [];
  /** Tokens that the account has left: 25 at first, 5 more each minute. */
  #tokens = 25;
  #filledAt: number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
    this.#filledAt = now();
  }

  /** One entrypoint of one version of the Worker. All share the account's purges, and nothing else. */
  entrypoint(name: string, run: (request: Request) => Promise<Response>, options: EntrypointOptions = {}) {
    const { version = "v1", crossVersion = false, props } = options;
    const space = JSON.stringify([name, crossVersion ? "any" : version, props ?? null]);
    const statuses: string[] = [];
    const fetch = async (request: Request): Promise<Response> => {
      const { status, response } = await this.#fetch(space, request, run);
      statuses.push(status);
      return response;
    };
    const purge: CachedEntrypoint["purge"] = async (tags) => this.purge(name, { tags });
    return { fetch, purge, hasCache: async () => true, statuses };
  }

  /** Paths and queries that are stored, for a test that looks for what should not be there. */
  stored(): { path: string; body: string }[] {
    return [...this.#entries.values()].flat().map(({ path, body }) => ({ path, body: new TextDecoder().decode(body) }));
  }

  get purges(): number {
    return this.#calls.length;
  }

  purge(entrypoint: string, what: { tags?: string[]; pathPrefixes?: string[]; purgeEverything?: boolean }) {
    const operations = (what.tags?.length ?? 0) + (what.pathPrefixes?.length ?? 0);
    if (operations > 100) return refused("too many operations in one purge");
    const now = this.#now();
    this.#tokens = Math.min(25, this.#tokens + ((now - this.#filledAt) / 60_000) * 5);
    this.#filledAt = now;
    if (this.#tokens < 1) return refused("rate limit");
    this.#tokens -= 1;
    this.#calls.push(now);
    const tags = new Set(what.tags?.map((tag) => tag.toLowerCase()));
    for (const [key, variants] of this.#entries) {
      if (JSON.parse(key)[0][0] !== entrypoint) continue;
      const isMeant = variants.some(
        (entry) =>
          what.purgeEverything === true ||
          entry.tags.some((tag) => tags.has(tag)) ||
          what.pathPrefixes?.some((prefix) => entry.path.startsWith(prefix)) === true,
      );
      // Variants of one URL go together.
      if (isMeant) this.#entries.delete(key);
    }
    return { success: true, errors: [] };
  }

  async #fetch(space: string, request: Request, run: (request: Request) => Promise<Response>) {
    const { method, headers } = request;
    const isCacheable = (method === "GET" || method === "HEAD") && headers.get("Upgrade") === null;
    if (!isCacheable) return { status: "DYNAMIC", response: await run(request) };
    const { pathname, search } = new URL(request.url);
    const path = `${pathname}${search}`;
    const chosen = (request.cf as { cacheKey?: string } | undefined)?.cacheKey;
    const key = JSON.stringify([JSON.parse(space), chosen ?? path, keyHeaders.map((name) => headers.get(name))]);
    const found = this.#entries.get(key)?.find((entry) => entry.until > this.#now() && matches(entry, headers));
    if (found !== undefined) return { status: "HIT", response: answer(found, method) };
    // A HEAD that misses asks for everything, so that the next GET finds it.
    const response = await run(method === "HEAD" ? new Request(request, { method: "GET" }) : request);
    const seconds = secondsToKeep(response, headers);
    if (seconds === undefined)
      return { status: "BYPASS", response: method === "HEAD" ? withoutBody(response) : response };
    const kept = new Headers(response.headers);
    kept.delete("Cache-Tag");
    kept.delete("cloudflare-cdn-cache-control");
    const entry: Entry = {
      path,
      status: response.status,
      headers: kept,
      body: new Uint8Array(await response.arrayBuffer()),
      tags: tagsOf(response.headers.get("Cache-Tag")),
      until: this.#now() + seconds * 1_000,
      varies: varyingHeaders(response).map((name) => [name, headers.get(name)]),
    };
    const others = (this.#entries.get(key) ?? []).filter((one) => !matches(one, headers));
    this.#entries.set(key, [...others, entry]);
    return { status: "MISS", response: answer(entry, method) };
  }
}

interface EntrypointOptions {
  version?: string;
  crossVersion?: boolean;
  props?: unknown;
}

interface Entry {
  path: string;
  status: number;
  headers: Headers;
  body: Uint8Array<ArrayBuffer>;
  tags: string[];
  until: number;
  varies: [name: string, value: string | null][];
}

/** Headers of a request that are part of the key, against poisoning. `x-forwarded-scheme` counts unless it is http(s). */
const keyHeaders = [
  ...["x-http-method-override", "x-http-method", "x-method-override", "x-forwarded-host", "x-host"],
  ...["x-original-url", "x-rewrite-url", "forwarded", "cloudflare-workers-version-key"],
];

/** How long an answer without any directive is kept, by status. */
const heuristic: Record<number, number> = {
  ...{ 200: 7_200, 203: 7_200, 204: 7_200, 300: 1_200, 301: 1_200 },
  ...{ 404: 180, 405: 60, 410: 180, 414: 60, 501: 60 },
};

/** undefined for what is not stored. */
function secondsToKeep(response: Response, asked: Headers): number | undefined {
  const { status, headers } = response;
  if (status === 206 || (status >= 520 && status <= 526)) return undefined;
  if (varyingHeaders(response).includes("*")) return undefined;
  const control =
    headers.get("cloudflare-cdn-cache-control") ?? headers.get("cdn-cache-control") ?? headers.get("Cache-Control");
  if (headers.has("Set-Cookie")) return undefined;
  if (control === null) return asked.has("Authorization") ? undefined : heuristic[status];
  const directives = control
    .toLowerCase()
    .split(",")
    .map((one) => one.trim());
  if (directives.includes("private") || directives.includes("no-store")) return undefined;
  const value = (name: string) => directives.find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1);
  const shareable = directives.includes("public") || directives.includes("must-revalidate") || value("s-maxage");
  if (asked.has("Authorization") && !shareable) return undefined;
  // `no-cache` is stored and stale at once, which for a reader is as if it were not.
  if (directives.includes("no-cache")) return undefined;
  const seconds = value("s-maxage") ?? value("max-age");
  return seconds === undefined ? undefined : Number(seconds);
}

function varyingHeaders(response: Response): string[] {
  const names = (response.headers.get("Vary") ?? "").split(",").map((name) => name.trim().toLowerCase());
  return names.filter((name) => name !== "");
}

/** Tags that are too long or not printable ASCII are dropped without a word. */
function tagsOf(header: string | null): string[] {
  const tags = (header ?? "").split(",").map((tag) => tag.trim());
  return tags
    .filter((tag) => /^[\x21-\x7e]{1,1024}$/.test(tag))
    .map((tag) => tag.toLowerCase())
    .slice(0, 1_000);
}

const matches = ({ varies }: Entry, headers: Headers) => varies.every(([name, value]) => headers.get(name) === value);

function answer({ status, headers, body }: Entry, method: string): Response {
  const isEmpty = method === "HEAD" || status === 204;
  return new Response(isEmpty ? null : body.slice(), { status, headers: new Headers(headers) });
}

const withoutBody = ({ status, headers }: Response) => new Response(null, { status, headers });

const refused = (message: string) => ({ success: false, errors: [{ code: 1, message }] });
