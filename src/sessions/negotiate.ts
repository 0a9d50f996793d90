import compare from "semver/functions/compare.js";
import compareBuild from "semver/functions/compare-build.js";
import major from "semver/functions/major.js";
import prerelease from "semver/functions/prerelease.js";
import type { Agreed, Declined, Negotiated, ParameterConflict } from "./answer-schema.ts";
import type { CapabilityDetail, NegotiationRequest } from "./schema.ts";

interface NegotiatedParameters {
  parameters: Record<string, unknown>;
  conflicts: ParameterConflict[];
  /** Parameters that the client named and the server does not know. */
  ignored: string[];
}

/**
 * Finds common values: the smaller number, the intersection of two lists, true only if both are true, text only if
 * equal. If the client gives no value, or there is no common value, the server's value is used.
 */
export function negotiateParameters(
  client: Record<string, unknown>,
  server: Record<string, unknown>,
): NegotiatedParameters {
  const parameters: Record<string, unknown> = {};
  const conflicts: ParameterConflict[] = [];
  for (const [parameter, offered] of Object.entries(server)) {
    if (!Object.hasOwn(client, parameter)) {
      parameters[parameter] = offered;
      continue;
    }
    const wanted = client[parameter];
    const met = intersect(wanted, offered);
    parameters[parameter] = "value" in met ? met.value : offered;
    if ("conflict" in met) conflicts.push({ parameter, client: wanted, server: offered, message: met.conflict });
  }
  const ignored = Object.keys(client).filter((parameter) => !Object.hasOwn(server, parameter));
  return { parameters, conflicts, ignored };
}

function intersect(client: unknown, server: unknown): { value: unknown } | { conflict: string } {
  if (typeof client === "number" && typeof server === "number") return { value: Math.min(client, server) };
  if (typeof client === "boolean" && typeof server === "boolean") return { value: client && server };
  if (Array.isArray(client) && Array.isArray(server)) {
    const common = server.filter((item) => client.includes(item));
    return common.length > 0 ? { value: common } : { conflict: "the two lists have nothing in common" };
  }
  if (kindOf(client) !== kindOf(server)) return { conflict: `is ${kindOf(client)} here and ${kindOf(server)} there` };
  return client === server ? { value: server } : { conflict: "the two values differ" };
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** A capability that the server offers: every supported version with its parameters. */
export interface Offer {
  name: string;
  description: string;
  /** Oldest first. */
  versions: readonly { version: string; parameters?: Record<string, unknown> }[];
}

/**
 * The common capabilities, in the order of the client's list, so that the result is deterministic. `own` are capabilities
 * of the server, which a client need not declare to use.
 */
export function negotiate(
  request: Pick<NegotiationRequest, "supported_capabilities" | "capability_details">,
  offers: readonly Offer[],
  own: readonly string[] = [],
): Negotiated {
  const details = Map.groupBy(Object.values(request.capability_details ?? {}), ({ name }) => name);
  const known = new Map(offers.map((offer) => [offer.name, offer]));
  const capabilities: Agreed[] = [];
  const declined: Declined[] = [];
  for (const name of request.supported_capabilities) {
    const offer = known.get(name);
    if (offer === undefined && own.includes(name)) {
      const message = "The server has this capability; a client need not declare it: recorded, without effect";
      declined.push({ name, reason: "server", message });
      continue;
    }
    if (offer === undefined) {
      declined.push({ name, reason: "unknown", message: "Unknown capability: recorded, without effect" });
      continue;
    }
    const agreementOn = agree(offer, details.get(name) ?? []);
    if (agreementOn !== undefined) capabilities.push(agreementOn);
    else declined.push({ name, reason: "version", message: noCommonVersionMessage(offer, details.get(name) ?? []) });
  }
  const declared = new Set(request.supported_capabilities);
  for (const name of details.keys()) {
    if (declared.has(name)) continue;
    declined.push({
      name,
      reason: "undeclared",
      message: "Has capability_details but is missing in supported_capabilities",
    });
  }
  return { capabilities, declined };
}

/** A client that gives no version accepts any, and gets the newest. */
function agree(offer: Offer, wanted: readonly CapabilityDetail[]): Agreed | undefined {
  const version = wanted.length === 0 ? newest(offer.versions)?.version : settleVersion(wanted, offer.versions);
  if (version === undefined) return undefined;
  const { parameters = {} } = nearest(offer.versions, version) ?? {};
  const settled = negotiateParameters(nearest(wanted, version)?.parameters ?? {}, parameters);
  return {
    name: offer.name,
    version,
    parameters: Object.keys(settled.parameters).length > 0 ? settled.parameters : undefined,
    conflicts: settled.conflicts.length > 0 ? settled.conflicts : undefined,
    ignored_parameters: settled.ignored.length > 0 ? settled.ignored : undefined,
  };
}

interface Versioned {
  version: string;
}

/**
 * The highest version that both sides understand. Versions of one major are compatible, so of the newest that each side
 * has the lower is taken. A pre-release promises no compatibility: only the same pre-release matches.
 */
function settleVersion(client: readonly Versioned[], server: readonly Versioned[]): string | undefined {
  const settled = server.flatMap((offered) => {
    const wanted = newest(client.filter((other) => areCompatible(other.version, offered.version)));
    if (wanted === undefined) return [];
    return [compare(wanted.version, offered.version) < 0 ? { version: withoutBuild(wanted.version) } : offered];
  });
  return newest(settled)?.version;
}

function areCompatible(a: string, b: string): boolean {
  const isStable = prerelease(a) === null && prerelease(b) === null;
  return isStable ? major(a) === major(b) : compare(a, b) === 0;
}

function newest<V extends Versioned>(versions: readonly V[]): V | undefined {
  return [...versions].sort((a, b) => compareBuild(b.version, a.version))[0];
}

/** Of a side's compatible versions the newest that is not above the settled version, else the oldest above it. */
function nearest<V extends Versioned>(versions: readonly V[], settled: string): V | undefined {
  const compatible = versions.filter(({ version }) => areCompatible(version, settled));
  const below = compatible.filter(({ version }) => compare(version, settled) <= 0);
  return newest(below) ?? compatible.sort((a, b) => compareBuild(a.version, b.version))[0];
}

function withoutBuild(version: string): string {
  return version.split("+", 1)[0] ?? version;
}

function noCommonVersionMessage(offer: Offer, wanted: readonly CapabilityDetail[]): string {
  const here = offer.versions.map(({ version }) => version).join(", ");
  return `No common version: the client has ${wanted.map(({ version }) => version).join(", ")}, the server ${here}`;
}

/**
 * The capabilities that a client counts as having: all declared ones except those without a common version. Unknown
 * capabilities count, because a deployment may require a capability of its own.
 */
export function heldCapabilities(declared: readonly string[], { declined }: Negotiated): string[] {
  const apart = new Set(declined.flatMap(({ name, reason }) => (reason === "version" ? [name] : [])));
  return declared.filter((name) => !apart.has(name));
}
