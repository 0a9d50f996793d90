import type { ServerRef, TenantKey } from "../../kernel/names.ts";
import { type CacheApi, logStorageError } from "../../kernel/platform/cache-api.ts";
import type { AnswerSource } from "../../kernel/platform/usage.ts";
import { readJson } from "../../kernel/read-json.ts";
import { analysisVersion } from "../../manifest/describe.ts";
import type { StoredManifest } from "../../manifest/stored.ts";
import type { RegistryTenant } from "../contract.ts";
import { bodyKey } from "./keys.ts";

interface BodiesOptions {
  edge: CacheApi;
  kv: Pick<KVNamespace, "get">;
  tenant: (key: TenantKey) => Pick<RegistryTenant, "body">;
  /** The platform's cache, where there is one. */
  shared?: { body(ref: ServerRef, digest: string): Promise<string | undefined> } | undefined;
  /** Lets a promise settle after the response was sent. */
  keepAlive: (promise: Promise<unknown>) => void;
}

/** Declared content never changes under its digest, so a body can stay in the Cache API for long. */
const edgeSeconds = 86_400;

/**
 * Stored manifests by server and digest, read from the Cache API, then KV, then the tenant's object, which can rebuild
 * the body of every retained revision.
 */
export class Bodies {
  readonly #options: BodiesOptions;

  constructor(options: BodiesOptions) {
    this.#options = options;
  }

  /**
   * undefined if no retained revision of the server has the digest. The caller must have checked permission. `isPublic` if
   * anyone may read the server now: then the body may also come from what all data centres share.
   */
  async get(
    { tenant, name }: ServerRef,
    digest: string,
    { isPublic = false }: { isPublic?: boolean } = {},
  ): Promise<{ manifest: StoredManifest; source: AnswerSource } | undefined> {
    const { edge, kv } = this.#options;
    const key = bodyKey(tenant, name, digest);
    const cached = parsed(await edge.read(key));
    if (isCurrent(cached)) return { manifest: cached, source: "edge" };
    if (isPublic && this.#options.shared !== undefined) {
      const shared = parsed(await this.#options.shared.body({ tenant, name }, digest));
      if (isCurrent(shared)) return { manifest: shared, source: "edge" };
    }
    let source: AnswerSource = "kv";
    let text = (await kv.get(key, "text").catch((cause) => logStorageError("KV read", cause))) ?? undefined;
    let manifest = parsed(text);
    if (!isCurrent(manifest)) {
      source = "object";
      text = await this.#options.tenant(tenant).body(name, digest);
      manifest = parsed(text);
    }
    if (text === undefined || manifest === undefined) return undefined;
    if (isCurrent(manifest)) this.#options.keepAlive(edge.write(key, text, edgeSeconds));
    return { manifest, source };
  }
}

function parsed(text: string | undefined): StoredManifest | undefined {
  return text === undefined ? undefined : (readJson(text) as StoredManifest);
}

/** False for a copy whose tokens and flags another release derived: the object has them as they are now. */
export function isCurrent(manifest: StoredManifest | undefined): manifest is StoredManifest {
  return manifest?.analysis === analysisVersion;
}
