import { adjustableBounds, type Bounds, type ImportBound } from "../../kernel/bounds.ts";
import type { Failure, MetBound } from "../../kernel/failure.ts";
import type { RequestContext } from "../context.ts";
import type { HttpDeps } from "../deps.ts";
import { log } from "../observe.ts";

/** What a publisher can do about each bound. */
const remedies: Partial<Record<keyof Bounds | ImportBound | "bodyBytes", string>> = {
  bodyBytes: "Send a smaller body, or several requests",
  configBytes: "Move what is large out of the settings or the manifest's own fields, into items",
  capabilityBytes: "Split the item, or shorten its descriptions, schemas and examples",
  manifestBytes: "Split the manifest over several servers",
  importBytes: "Split the document, and import each part under a server name of its own",
  eventBytes: "Split the manifest over several servers, each with its hook",
  capabilities: "Split the manifest over several servers",
  yamlBytes: "Send it as JSON, which may be larger, or split it",
  yamlAliases: "Send it as JSON, or write out what the aliases stand for",
  sdlBytes: "Import the schema's introspection result as JSON, or split the schema",
  sdlTokens: "Import the schema's introspection result as JSON, or split the schema",
  sdlComments: "Leave out the comments (descriptions stay), or import the introspection result as JSON",
  introspectedMembers: "Split the schema, and import each part under a server name of its own",
  rtfsBytes: "Split the document, and import each part under a server name of its own",
  schemaNodes: "Make the item's schemas smaller: share parts through $defs, or leave deep parts open",
  documentNodes: "Split the document, and import each part under a server name of its own",
  visitedValues: "Split the document, and import each part under a server name of its own",
  sharedBytes: "Split the document, or move shared parts into referenced schemas",
};

/** The bound that a request met; undefined if it failed for another reason. */
export function metBound({ details }: Failure): MetBound | undefined {
  if (details?.bound !== undefined) return details.bound;
  const issue = details?.issues?.find(({ rule }) => rule === "size" || rule === "schemaNodes");
  if (issue === undefined) return undefined;
  if (issue.rule === "schemaNodes") return { name: "schemaNodes" };
  return { name: issue.path === "" ? "configBytes" : "capabilityBytes" };
}

/** Tells the publisher what to split, and the operator which setting raises the bound. */
export function withRemedy(failure: Failure): Failure {
  const met = metBound(failure);
  const remedy = met && remedies[met.name as keyof typeof remedies];
  if (met === undefined || remedy === undefined) return failure;
  const setting = adjustableBounds.some((name) => name === met.name) ? "BOUNDS" : undefined;
  const operator =
    setting === undefined ? "no setting raises this bound" : `operator: the setting ${setting} raises ${met.name}`;
  return { ...failure, details: { ...failure.details, bound: met, setting, hint: `${remedy}; ${operator}` } };
}

/** Counts a bound that was met and logs one line. */
export function noteBound(c: RequestContext, { metrics }: HttpDeps, failure: Failure): void {
  const met = metBound(failure);
  if (met === undefined) return;
  const tenant = c.get("tenant");
  metrics.recordBound(met.name, tenant);
  log(c, "bound", { bound: met.name, limit: met.limit, found: met.found, tenant, code: failure.code });
}
