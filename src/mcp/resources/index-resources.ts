import { checkScope, type Principal } from "../../auth/principal.ts";
import { advertisedBy } from "../../capability-index/advertise.ts";
import { isVariant, mimeTypeOf, readAdvertised, readIndex, unknownIndex } from "../../capability-index/read.ts";
import { contextHint, type IndexOwner, indexUri } from "../../capability-index/text.ts";
import { type Advertised, type IndexVariant, indexVariants, nothingAdvertised } from "../../config.ts";
import { type Failure, failure } from "../../kernel/failure.ts";
import { ServerName, type TenantKey, TenantName, tenantKey } from "../../kernel/names.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import type { McpDeps } from "../deps.ts";
import { listTools } from "../tools/tools.ts";
import { ownIndex } from "./own-index.ts";
import type { OwnResource, ResourceContents } from "./own-resources.ts";

const scheme = "rollcall://capability-index/";

export function isIndexUri(uri: string): boolean {
  return uri.startsWith(scheme);
}

/** Reads an index that is advertised to the caller. If the index is not advertised, the failure says how to do it. */
export async function readIndexResource(
  services: McpDeps,
  principal: Principal,
  uri: string,
): Promise<Result<ResourceContents, Failure>> {
  const parts = uri.slice(scheme.length).split("/");
  const variant = parts.pop() ?? "";
  const [owner, name] = parts;
  const isNamed = (owner === undefined || TenantName.safeParse(owner).success) && parts.length <= 2;
  if (!isVariant(variant) || !isNamed || (name !== undefined && !ServerName.safeParse(name).success)) {
    return err(unknownIndex(uri));
  }
  const mimeType = mimeTypeOf(variant);
  if (owner === undefined) {
    if (!services.config.advertisedIndex[variant]) return err(disabled(uri, variant));
    return ok({ uri, mimeType, text: (await ownIndex(services, variant, listTools())).text });
  }
  const error = checkScope(principal, "registry:read");
  if (error !== undefined) return err(error);
  const ref = { tenant: tenantKey(owner), name };
  const read = await readIndex(services, principal, ref, variant, { onlyAdvertised: true });
  if (!read.ok) return read;
  const { shown, etag, generation } = read.value;
  return ok({ uri, mimeType, text: shown?.text ?? "", etag, generation });
}

function disabled(uri: string, variant: IndexVariant): Failure {
  const message = `${uri} is not advertised; whoever runs the registry can turn it on: ADVERTISE_INDEX="${variant}"`;
  return failure("ErrorIndexDisabled", message);
}

/** Limits of one resource list: tenants of the caller, and servers per tenant. */
export const maxTenants = 8;
const maxServers = 16;

/** Estimated tokens that one list may count exactly. Beyond it, only full indexes show a number: the estimate. */
const maxMeasured = 200_000;

/** A full index costs about so many times what the definitions in it cost. */
const textFactor = 1.5;

interface Listed {
  ref: IndexOwner;
  variant: IndexVariant;
  /** Estimated tokens of the definitions in the index. */
  about: number;
}

/** URIs of the advertised variants of the registry's own index. */
export function ownIndexUris({ config }: Pick<McpDeps, "config">): string[] {
  return variantsOf({}, config.advertisedIndex, 0).map(({ ref, variant }) => indexUri(ref, variant));
}

/** What a list of resources leaves out: of which tenants nothing was looked at, and how many servers of each other. */
export interface ListCuts {
  tenants?: number;
  servers?: Record<string, number>;
  message: string;
}

/** Indexes that are advertised to a caller: the registry's own, and those of the caller's first tenants. */
async function advertisedIndexes(
  services: McpDeps,
  principal: Principal,
): Promise<{ indexes: Listed[]; cuts?: ListCuts }> {
  const own = variantsOf({}, services.config.advertisedIndex, 0);
  if (checkScope(principal, "registry:read") !== undefined) return { indexes: own };
  const tenants = [...principal.tenants].sort();
  const theirs = await Promise.all(
    tenants.slice(0, maxTenants).map(async (key) => {
      const object = services.tenant(key);
      const [{ current, tenant = key }, { servers, more, tokens }] = await Promise.all([
        object.advertise(),
        object.advertisedServers(maxServers),
      ]);
      const ofServers = servers.flatMap((server) =>
        variantsOf({ tenant, name: server.name }, advertisedBy(server.advertise), server.tokens),
      );
      const indexes = [...variantsOf({ tenant }, advertisedBy(current?.settings), tokens), ...ofServers];
      return { tenant, indexes, more };
    }),
  );
  const cut = theirs.flatMap(({ tenant, more }) => (more > 0 ? [[tenant, more] as const] : []));
  return {
    indexes: [...own, ...theirs.flatMap(({ indexes }) => indexes)],
    cuts: cutsOf(Math.max(0, tenants.length - maxTenants), cut),
  };
}

function cutsOf(tenants: number, servers: (readonly [string, number])[]): ListCuts | undefined {
  if (tenants === 0 && servers.length === 0) return undefined;
  const message = `The list has at most ${maxTenants} tenants of the caller and ${maxServers} advertised servers of each; any other index is read by its URI`;
  return {
    tenants: tenants === 0 ? undefined : tenants,
    servers: servers.length === 0 ? undefined : Object.fromEntries(servers),
    message,
  };
}

/** True if a list of resources for the caller has an index. */
export async function hasAdvertisedIndex(services: McpDeps, principal: Principal): Promise<boolean> {
  if (ownIndexUris(services).length > 0) return true;
  return (await advertisedIndexes(services, principal)).indexes.length > 0;
}

/**
 * The variants that a caller can read of an index. Without a tenant, or without the server of a server's index, those of
 * any such index in the caller's list.
 */
export async function advertisedVariants(
  services: McpDeps,
  principal: Principal,
  { tenant, name }: { tenant?: TenantKey; name?: string },
  ofServer: boolean,
): Promise<IndexVariant[]> {
  if (checkScope(principal, "registry:read") !== undefined) return [];
  if (tenant !== undefined && (name !== undefined || !ofServer)) {
    const ref = { tenant, name: ofServer ? name : undefined };
    return indexVariantsIn((await readAdvertised(services, principal, ref)) ?? nothingAdvertised);
  }
  const { indexes } = await advertisedIndexes(services, principal);
  const found = indexes.filter(({ ref }) => {
    const isSuch = ref.tenant !== undefined && (ref.name !== undefined) === ofServer;
    return isSuch && (tenant === undefined || tenantKey(ref.tenant ?? "") === tenant);
  });
  return indexVariants.filter((variant) => found.some((one) => one.variant === variant));
}

function indexVariantsIn(advertised: Advertised): IndexVariant[] {
  return indexVariants.filter((variant) => advertised[variant]);
}

function variantsOf(ref: IndexOwner, advertised: Advertised, about: number): Listed[] {
  return indexVariantsIn(advertised).map((variant) => ({ ref, variant, about }));
}

/** The advertised indexes as MCP resources, with their token counts, and what the list leaves out. */
export async function listIndexResources(
  services: McpDeps,
  principal: Principal,
): Promise<{ resources: OwnResource[]; cuts?: ListCuts }> {
  let room = maxMeasured;
  const listed: OwnResource[] = [];
  const { indexes, cuts } = await advertisedIndexes(services, principal);
  for (const { ref, variant, about } of indexes) {
    room -= about;
    const tokens = room < 0 ? undefined : await measured(services, principal, ref, variant);
    listed.push(describe(ref, variant, tokens, about));
  }
  return { resources: listed, cuts };
}

async function measured(
  services: McpDeps,
  principal: Principal,
  ref: IndexOwner,
  variant: IndexVariant,
): Promise<number | undefined> {
  if (ref.tenant === undefined) return (await ownIndex(services, variant, listTools())).tokens;
  const { tenant, name } = ref;
  const read = await readIndex(services, principal, { tenant: tenantKey(tenant), name }, variant, {
    onlyAdvertised: true,
  });
  return read.ok ? read.value.shown?.tokens : undefined;
}

const what: Record<IndexVariant, { title: string; description: string }> = {
  summary: {
    title: "Capability Index Summary",
    description: "Lightweight capability index with action verb → element mappings.",
  },
  full: {
    title: "Capability Index (Full)",
    description: "Complete capability index with all element details, relationships, and semantic data.",
  },
  stats: {
    title: "Capability Index Statistics",
    description: "Measurement data about capability index size and token estimates.",
  },
};

function describe(ref: IndexOwner, variant: IndexVariant, tokens: number | undefined, about: number): OwnResource {
  const whose = [ref.tenant, ref.name].filter((part) => part !== undefined).join("/");
  const { title, description } = what[variant];
  const guessed = Math.round(about * textFactor);
  const costs =
    tokens !== undefined
      ? `Measured ${tokens} tokens; ${contextHint(tokens)}.`
      : variant === "full"
        ? `About ${guessed} tokens; ${contextHint(guessed)}.`
        : "Not measured here.";
  return {
    uri: indexUri(ref, variant),
    name: ["capability_index", ref.tenant, ref.name, variant].filter((part) => part !== undefined).join("_"),
    title: whose === "" ? title : `${title} of ${whose}`,
    description: `${description} ${costs}`,
    mimeType: mimeTypeOf(variant),
  };
}
