import { checkScope, type Principal } from "../../auth/principal.ts";
import { advertisedBy } from "../../capability-index/advertise.ts";
import { isVariant, mimeTypeOf, readIndex, unknownIndex } from "../../capability-index/read.ts";
import { contextHint, type IndexOwner, indexUri } from "../../capability-index/text.ts";
import { type Advertised, type IndexVariant, indexVariants } from "../../config.ts";
import { type Failure, failure } from "../../kernel/failure.ts";
import { ServerName, TenantName, tenantKey } from "../../kernel/names.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import type { McpDeps } from "../deps.ts";
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
    return ok({ uri, mimeType, text: (await ownIndex(services, variant)).text });
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

interface Listed {
  ref: IndexOwner;
  variant: IndexVariant;
  /** Estimated tokens of the capabilities in the index. */
  about: number;
}

/** URIs of the advertised variants of the registry's own index. */
export function ownIndexUris({ config }: Pick<McpDeps, "config">): string[] {
  return variantsOf({}, config.advertisedIndex, 0).map(({ ref, variant }) => indexUri(ref, variant));
}

/** Indexes that are advertised to a caller: the registry's own, and those of the caller's first tenants. */
async function advertisedIndexes(services: McpDeps, principal: Principal): Promise<Listed[]> {
  const own = variantsOf({}, services.config.advertisedIndex, 0);
  if (checkScope(principal, "registry:read") !== undefined) return own;
  const tenants = [...principal.tenants].sort().slice(0, maxTenants);
  const theirs = await Promise.all(
    tenants.map(async (key) => {
      const object = services.tenant(key);
      const [{ current, tenant = key }, { servers, tokens }] = await Promise.all([
        object.advertise(),
        object.advertisedServers(maxServers),
      ]);
      return [
        ...variantsOf({ tenant }, advertisedBy(current?.settings), tokens),
        ...servers.flatMap((server) =>
          variantsOf({ tenant, name: server.name }, advertisedBy(server.advertise), server.tokens),
        ),
      ];
    }),
  );
  return [...own, ...theirs.flat()];
}

function variantsOf(ref: IndexOwner, advertised: Advertised, about: number): Listed[] {
  return indexVariants.filter((variant) => advertised[variant]).map((variant) => ({ ref, variant, about }));
}

/** The advertised indexes as MCP resources, with their token counts. */
export async function listIndexResources(services: McpDeps, principal: Principal): Promise<OwnResource[]> {
  let room = maxMeasured;
  const listed: OwnResource[] = [];
  for (const { ref, variant, about } of await advertisedIndexes(services, principal)) {
    room -= about;
    const tokens = room < 0 ? undefined : await measured(services, principal, ref, variant);
    listed.push(describe(ref, variant, tokens, about));
  }
  return listed;
}

async function measured(
  services: McpDeps,
  principal: Principal,
  ref: IndexOwner,
  variant: IndexVariant,
): Promise<number | undefined> {
  if (ref.tenant === undefined) return (await ownIndex(services, variant)).tokens;
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
  const costs =
    tokens !== undefined
      ? `Measured ${tokens} tokens, ${contextHint(tokens)}.`
      : variant === "full"
        ? `About ${about} tokens, ${contextHint(about)}.`
        : "Not measured here.";
  return {
    uri: indexUri(ref, variant),
    name: ["capability_index", ref.tenant, ref.name, variant].filter((part) => part !== undefined).join("_"),
    title: whose === "" ? title : `${title} of ${whose}`,
    description: `${description} ${costs}`,
    mimeType: mimeTypeOf(variant),
  };
}
