import { z } from "zod";
import { flatten } from "../../formats/rtfs/index.ts";
import { anyone } from "../../http/access.ts";
import { requestError, unwrap } from "../../http/context.ts";
import { type AnswerMeta, operation } from "../../http/operation.ts";
import { flag, freshnessFrom, names, reading, server } from "../../http/parameters.ts";
import { Digest, type TenantKey } from "../../kernel/names.ts";
import { Capability } from "../answer-schema.ts";
import {
  capabilityText,
  definitionOfFound,
  type FoundCapability,
  readCapability,
  readPublicCapability,
} from "../capability.ts";
import { DefinitionFormat } from "../definitions/schema.ts";
import type { RegistryDeps } from "../deps.ts";
import { allowCached } from "../read.ts";
import { choiceOptions } from "../record.ts";
import { capabilityDocument } from "../views/capability.ts";

const formats = { json: "application/json", yaml: "application/yaml", rtfs: "application/rtfs" } as const;
type Format = keyof typeof formats;

const getCapability = operation({
  id: "getCapability",
  method: "get",
  path: "/api/capabilities/{tenant}/{capabilityId}",
  tag: "Find",
  summary: "Read one capability",
  description: "As JSON, YAML or RTFS, by `format` or else by `Accept`. Capabilities of public servers need no token.",
  access: anyone,
  parameters: {
    path: {
      tenant: server.tenant,
      capabilityId: z.string().describe("Id of the capability, unique in its tenant; `/` in it is sent as `%2F`."),
    },
    query: {
      format: z.enum(["json", "yaml", "rtfs"]).optional().describe("Wins over `Accept`."),
      layout: z
        .enum(["hierarchical", "flat"])
        .default("hierarchical")
        .describe("`flat` has metadata as one level of keys, with collisions reported."),
      definitions: DefinitionFormat.optional().describe(
        "Answers with its definition for this API in place of what it declares; not with `format`, `layout` and `hints`.",
      ),
      include: names(choiceOptions)
        .optional()
        .describe("With `definitions`, what is not to be left out: an item with a high flag, a withdrawn server."),
      digest: Digest.optional().describe(
        "Only this content, and only if it is public: 404 if the capability has another digest now. Without a token.",
      ),
      hints: flag
        .default(false)
        .describe("Adds `runtime`: where and with which variables a runtime would call the capability."),
    },
    headers: reading,
  },
  answers: {
    200: {
      description: "The capability; in the envelope if it is JSON.",
      data: Capability,
      media: [formats.yaml, formats.rtfs],
      etag: true,
      generation: true,
      headers: { "Rollcall-Losses": "JSON pointers to values that RTFS cannot express, separated by spaces." },
    },
  },
  fails: ["ErrorTenantPermissionError", "ErrorCapabilityNotFound"],
  cached: true,
  examples: {
    observation: { path: { tenant: "demo", capabilityId: "mcp.weather.get_observation" } },
    definition: {
      summary: "As a tool of a model",
      path: { tenant: "demo", capabilityId: "mcp.weather.get_observation" },
      query: { definitions: "openai" },
    },
    rtfs: { path: { tenant: "demo", capabilityId: "mcp.weather.get_observation" }, query: { format: "rtfs" } },
  },

  async handle(services: RegistryDeps, { principal, path: { tenant, capabilityId }, query, headers, c, answer }) {
    const { format: wanted, layout, definitions, include, digest, hints } = query;
    const freshness = freshnessFrom(headers);
    const found = unwrap(
      digest === undefined
        ? await readCapability(services, principal, tenant, capabilityId, freshness)
        : await readPublicCapability(services, principal, tenant, capabilityId, digest, freshness),
    );
    const { generation, source } = found;
    if (definitions !== undefined) {
      if (wanted !== undefined || layout === "flat" || hints)
        throw requestError("ErrorBadRequest", "definitions is not used with format, layout and hints");
      const etag = `W/"${found.capability.digest}.${found.head.overlay}.d1.${definitions}${include ?? ""}"`;
      const { id, kind, registry } = capabilityDocument(found, { hints: false });
      const data = { id, kind, registry, ...(await definitionOfFound(found, definitions, include)) };
      const cache = cacheOf(services, c.req.url, tenant, found);
      return answer(200, data, { etag, generation, source, cache });
    }
    const format = wanted ?? formatFor(c.req.header("Accept"));
    const flat = layout === "flat";
    if (flat && format === "rtfs")
      throw requestError("ErrorBadRequest", "layout=flat works with format json or yaml only");
    const variant = `${format}${flat ? ".flat" : ""}${hints ? ".hints" : ""}`;
    const etag = `W/"${found.capability.digest}.${found.head.overlay}.k4.${variant}"`;
    const cache = cacheOf(services, c.req.url, tenant, found);
    // Without `format`, the answer depends on a header that the cache does not know by itself.
    const accepts = wanted === undefined ? (accept?: string) => formatFor(accept) === format : undefined;
    const meta = { etag, generation, source, headers: { Vary: "Accept" }, cache: cache && { ...cache, accepts } };
    const unchanged = answer.unchanged(meta);
    if (unchanged !== undefined) return unchanged;
    const document = capabilityDocument(found, { hints });
    const data = flat ? flatLayout(document) : document;
    if (format === "json") return answer(200, data, meta);
    const { text, losses } = capabilityText(format, data);
    const type = `${formats[format]}; charset=utf-8`;
    if (losses.length === 0) return answer.raw(200, text, { ...meta, type });
    const lost = losses.map(encodeURI).join(" ").slice(0, 1_000);
    return answer.raw(200, text, { ...meta, type, headers: { ...meta.headers, "Rollcall-Losses": lost } });
  },
});

/**
 * Caches an answer made from memory while the head is the same. Only for URLs that spell the capability in one way, with at
 * most one parameter: each other spelling would be cached once more.
 */
function cacheOf({ heads }: RegistryDeps, url: string, tenant: TenantKey, found: FoundCapability): AnswerMeta["cache"] {
  const { remembered, head, capability } = found;
  const [path = "", query = ""] = url.split("?", 2);
  const isPlain = path.endsWith(`/${head.tenant}/${encodeURIComponent(capability.id)}`) && !query.includes("&");
  if (remembered === undefined || !isPlain) return undefined;
  const ref = { tenant, name: head.name };
  return { holds: () => heads.peek(ref, allowCached) === remembered, variesBy: { member: tenant } };
}

/** Any other `Accept` gets JSON. */
function formatFor(accept = ""): Format {
  if (/\b(?:application|text)\/(?:x-)?yaml\b/i.test(accept)) return "yaml";
  return /\bapplication\/rtfs\b/i.test(accept) ? "rtfs" : "json";
}

/** The legacy layout: metadata as one level of keys joined with `_`. */
function flatLayout({ metadata, ...document }: Capability): Capability {
  const { flat, collisions } = flatten(metadata ?? {});
  const flattened: Capability = { ...document, metadata: flat };
  // Without collisions, a member of that name is the publisher's own.
  if (collisions.length > 0) flattened.collisions = collisions;
  return flattened;
}

export const capabilityOperations = [getCapability];
