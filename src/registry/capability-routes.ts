import { flatten } from "../formats/rtfs/index.ts";
import { type App, type RequestContext, requestError, unwrap } from "../http/context.ts";
import { authenticateOptional, booleanParam, freshnessOf, readQuery, tenantName } from "../http/request.ts";
import { send, sendConditional, sendData } from "../http/respond.ts";
import { capabilityText, readCapability } from "./capability.ts";
import type { RegistryDeps } from "./deps.ts";
import { capabilityDocument } from "./views/capability.ts";

const path = "/api/capabilities/:tenant/:capabilityId";

const formats = { json: "application/json", yaml: "application/yaml", rtfs: "application/rtfs" } as const;
type Format = keyof typeof formats;

/** Reads one capability of any kind by its id. Capabilities of public servers need no token. */
export function capabilityRoutes(app: App, services: RegistryDeps): void {
  app.get(path, async (c) => {
    const tenant = tenantName(c.req.param("tenant"));
    const principal = await authenticateOptional(c, services);
    const { minGeneration } = freshnessOf(c);
    const found = unwrap(await readCapability(services, principal, tenant, c.req.param("capabilityId"), minGeneration));
    const query = readQuery(c, ["format", "layout", "hints"]);

    const format = formatOf(c, query.format);
    const hints = booleanParam("hints", query.hints);
    const flat = layoutOf(query.layout) === "flat";
    if (flat && format === "rtfs") throw requestError("ErrorBadRequest", "The flat layout comes as JSON or YAML");
    const variant = `${format}${flat ? ".flat" : ""}${hints ? ".hints" : ""}`;
    const etag = `W/"${found.capability.digest}.${found.head.overlay}.k3.${variant}"`;
    const meta = { etag, generation: found.generation, source: "object" as const, headers: { Vary: "Accept" } };
    return sendConditional(c, services, meta, () => {
      const document = capabilityDocument(found, { hints });
      const data = flat ? flatLayout(document) : document;
      if (format === "json") return sendData(c, services, data, meta);
      const { text, losses } = capabilityText(format, data);
      const headers: Record<string, string> = { ...meta.headers };
      if (losses.length > 0) headers["Rollcall-Losses"] = losses.map(encodeURI).join(" ").slice(0, 1_000);
      return send(c, services, text, `${formats[format]}; charset=utf-8`, { ...meta, headers });
    });
  });

  app.all(path, () => {
    throw requestError("ErrorMethodNotAllowed", undefined, { allow: "GET, HEAD" });
  });
}

/** `?format=` wins over `Accept`; any other `Accept` gets JSON. */
function formatOf(c: RequestContext, wanted: string | undefined): Format {
  if (wanted !== undefined) {
    if (Object.hasOwn(formats, wanted)) return wanted as Format;
    throw requestError("ErrorBadRequest", `format must be one of ${Object.keys(formats).join(", ")}`);
  }
  const accept = c.req.header("Accept") ?? "";
  if (/\b(?:application|text)\/(?:x-)?yaml\b/i.test(accept)) return "yaml";
  return /\bapplication\/rtfs\b/i.test(accept) ? "rtfs" : "json";
}

function layoutOf(wanted: string | undefined): "hierarchical" | "flat" {
  if (wanted === undefined || wanted === "hierarchical") return "hierarchical";
  if (wanted === "flat") return "flat";
  throw requestError("ErrorBadRequest", "layout must be hierarchical or flat");
}

/** The legacy layout: metadata as one level of keys joined with `_`. */
function flatLayout({ metadata, ...document }: Record<string, unknown>): Record<string, unknown> {
  const { flat, collisions } = flatten((metadata ?? {}) as Record<string, unknown>);
  const flattened: Record<string, unknown> = { ...document, metadata: flat };
  if (collisions.length > 0) flattened.collisions = collisions;
  return flattened;
}
