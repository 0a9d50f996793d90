import { isMember, type Principal } from "../auth/principal.ts";
import { type Advertised, type IndexVariant, indexVariants } from "../config.ts";
import type { Freshness } from "../http/request.ts";
import { matchesEtag } from "../kernel/etag.ts";
import { type Failure, failure } from "../kernel/failure.ts";
import type { TenantKey } from "../kernel/names.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { loadTokenizer } from "../manifest/tokens.ts";
import { checkMember, checkMinGeneration, checkTenantExists } from "../registry/access.ts";
import { allowCached } from "../registry/read.ts";
import { advertisedBy } from "./advertise.ts";
import type { IndexState } from "./contract.ts";
import type { IndexDeps } from "./deps.ts";
import { IndexWork } from "./index-work.ts";
import { measureIndex, renderIndex } from "./render.ts";
import { type IndexText, indexTextVersion, indexUri, statsText, type TenantIndexOwner } from "./text.ts";
import { sizeOfText } from "./token-estimate.ts";
import { changedDuringRead, type Gathered } from "./walk.ts";

/** A tenant's index or, with `name`, a server's. */
export interface IndexRef {
  tenant: TenantKey;
  name?: string | undefined;
}

interface IndexReadOptions {
  freshness?: Freshness;
  ifNoneMatch?: string | undefined;
  /** True if only advertised variants may be read. */
  onlyAdvertised: boolean;
}

interface ShownIndex {
  etag: string;
  generation: number;
  mimeType: string;
  /** Absent if `ifNoneMatch` matches. */
  shown?: IndexText;
}

/** Attempts to read all pages without a write in between. */
const tries = 5;

/**
 * Reads one variant of an index. Permission and version are read from the tenant's object each time. Only the text is
 * cached, separately for members of the tenant and for all other callers.
 */
export async function readIndex(
  services: IndexDeps,
  principal: Principal,
  ref: IndexRef,
  variant: string,
  { freshness = allowCached, ifNoneMatch, onlyAdvertised }: IndexReadOptions,
): Promise<Result<ShownIndex, Failure>> {
  const error = await checkTenantExists(services, principal, ref.tenant);
  if (error !== undefined) return err(error);
  const onlyPublic = !isMember(principal, ref.tenant);
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const state = await services.tenant(ref.tenant).indexState(ref.name);
    const error = readObjection(principal, ref, state) ?? checkMinGeneration(freshness.minGeneration, state.generation);
    if (error !== undefined) return err(error);
    const owner = { tenant: state.tenant ?? ref.tenant, name: ref.name };
    // Check permission first: a caller without permission must not learn what else is wrong with the request.
    if (!isVariant(variant)) return err(unknownIndex(indexUri(owner, variant)));
    const hidden = onlyAdvertised ? checkAdvertised(owner, variant, state) : undefined;
    if (hidden !== undefined) return err(hidden);

    const audience = onlyPublic ? "public" : "tenant";
    const etag = `W/"${indexTextVersion}.${variant}.${audience}.${state.stamp}"`;
    const meta = { etag, generation: state.generation, mimeType: mimeTypeOf(variant) };
    if (ifNoneMatch !== undefined && matchesEtag(ifNoneMatch, etag)) return ok(meta);
    const { subject: caller } = principal;
    const options = { onlyPublic, stamp: state.stamp, strong: freshness.strong, caller };
    const text = await textOf(services, owner, variant, options);
    if (text !== changedDuringRead) return text.ok ? ok({ ...meta, shown: text.value }) : text;
  }
  return err(failure("ErrorUnavailable", "The tenant changed while its index was built. Retry in a few seconds"));
}

/** Which variants of an index are advertised; undefined if the caller may not read it. */
export async function readAdvertised(
  services: IndexDeps,
  principal: Principal,
  ref: IndexRef,
): Promise<Advertised | undefined> {
  if ((await checkTenantExists(services, principal, ref.tenant)) !== undefined) return undefined;
  const state = await services.tenant(ref.tenant).indexState(ref.name);
  return readObjection(principal, ref, state) === undefined ? advertisedIn(state, ref.name) : undefined;
}

export function mimeTypeOf(variant: IndexVariant): string {
  return variant === "stats" ? "application/json" : "text/yaml";
}

export function isVariant(text: string): text is IndexVariant {
  return (indexVariants as readonly string[]).includes(text);
}

export function unknownIndex(uri: string): Failure {
  const known = `available: ${indexVariants.join(", ")}`;
  return failure("resource_not_found", `Unknown capability index resource: ${uri.slice(0, 256)}; ${known}`);
}

interface TextOptions {
  onlyPublic: boolean;
  stamp: string;
  strong: boolean;
  /** Whom the work is counted for. */
  caller: string;
}

async function textOf(
  services: IndexDeps,
  owner: TenantIndexOwner,
  variant: IndexVariant,
  { onlyPublic, stamp, strong, caller }: TextOptions,
): Promise<Gathered<IndexText>> {
  const keyOf = (of: IndexVariant) =>
    `${owner.tenant}/${owner.name ?? ""} ${onlyPublic} ${stamp} ${of} ${indexTextVersion}`;
  const cached = (of: IndexVariant) => (strong ? undefined : services.indexTexts.get(keyOf(of)));
  const known = cached(variant);
  if (known !== undefined) {
    services.usage.memory += 1;
    return ok(known);
  }
  const work = new IndexWork(services, caller);
  try {
    const index = { owner, range: { server: owner.name, onlyPublic }, stamp, work };
    const rendered =
      variant === "stats"
        ? await statsOf(services, index, cached("summary"), cached("full"))
        : await renderIndex(services, index, variant);
    if (rendered !== changedDuringRead && rendered.ok) services.indexTexts.set(keyOf(variant), rendered.value);
    return rendered;
  } finally {
    work.end();
  }
}

/** From texts in memory, or without any text: an index of any size has statistics. */
async function statsOf(
  services: IndexDeps,
  index: Parameters<typeof measureIndex>[1],
  summary: IndexText | undefined,
  full: IndexText | undefined,
): Promise<Gathered<IndexText>> {
  const measured =
    summary === undefined || full === undefined ? await measureIndex(services, index) : ok({ summary, full });
  if (measured === changedDuringRead || !measured.ok) return measured;
  const text = statsText(measured.value.summary, measured.value.full);
  return ok({ text, tokens: (await loadTokenizer())(text), size: sizeOfText(text) });
}

/**
 * Callers outside the tenant may read only public content; a tenant or server without any looks nonexistent to them.
 */
function readObjection(principal: Principal, { tenant, name }: IndexRef, state: IndexState): Failure | undefined {
  const isPublic = name === undefined ? state.hasPublic : state.server?.public === true;
  if (!isPublic) {
    const error = checkMember(principal, tenant);
    if (error !== undefined) return error;
  }
  return name !== undefined && state.server === undefined ? failure("ErrorMCPServerNotFound") : undefined;
}

/** The server's settings apply to its index, the tenant's settings to the tenant's index. */
function advertisedIn(state: Pick<IndexState, "advertise" | "server">, name: string | undefined): Advertised {
  return advertisedBy(name === undefined ? state.advertise : state.server?.advertise);
}

function checkAdvertised(owner: TenantIndexOwner, variant: IndexVariant, state: IndexState): Failure | undefined {
  if (advertisedIn(state, owner.name)[variant]) return undefined;
  const settings = `{"advertiseResources": true, "variants": {"${variant}": true}}`;
  const how =
    owner.name === undefined
      ? `PUT /api/index/${owner.tenant}/advertise with ${settings}`
      : `"advertise": ${settings} in the server's settings`;
  const message = `${indexUri(owner, variant)} is not advertised; its tenant can turn it on: ${how}`;
  return failure("ErrorIndexDisabled", message);
}
