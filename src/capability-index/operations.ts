import { z } from "zod";
import { anyone, manager, member } from "../http/access.ts";
import { throwIf, unwrap } from "../http/context.ts";
import { type AnswerMeta, operation } from "../http/operation.ts";
import { freshnessFrom, reading, server, writing } from "../http/parameters.ts";
import type { FailureCode } from "../kernel/failure.ts";
import { writerFrom } from "../registry/write.ts";
import { checkSearchLimit } from "../search/limit.ts";
import { readAdvertise, shownAdvertise } from "./advertise.ts";
import { AdvertiseResult, BudgetIndex, IndexStats, ShownAdvertise } from "./answer-schema.ts";
import { fitCapabilityIndex, visibleTenant } from "./budget.ts";
import type { IndexDeps } from "./deps.ts";
import { readIndex } from "./read.ts";
import { AdvertiseSettings, IndexBudgetRequest } from "./schema.ts";

const path = "/api/index/{tenant}";
const tenant = { tenant: server.tenant };
const minGeneration = { "Rollcall-Min-Generation": reading["Rollcall-Min-Generation"] };

const getAdvertise = operation({
  id: "getAdvertise",
  method: "get",
  path: `${path}/advertise`,
  tag: "Find",
  summary: "Read which variants of a tenant's index are advertised",
  access: member("path"),
  parameters: { path: tenant, headers: { ...minGeneration, "If-None-Match": reading["If-None-Match"] } },
  answers: {
    200: {
      description: "The settings, and what follows from them.",
      data: ShownAdvertise,
      etag: true,
      generation: true,
    },
  },
  examples: { demo: { path: { tenant: "demo" } } },

  async handle(services: IndexDeps, { principal, tenant: owner, headers, answer }) {
    const { minGeneration: wanted } = freshnessFrom(headers);
    const { etag, ...data } = unwrap(await readAdvertise(services, principal, owner, wanted));
    return answer(200, data, { etag, generation: data.generation, source: "object" });
  },
});

const setAdvertise = operation({
  id: "setAdvertise",
  method: "put",
  path: `${path}/advertise`,
  tag: "Publish",
  summary: "Set which variants of a tenant's index are advertised",
  description: "None until it is switched on. A client may put every advertised resource into its context.",
  access: manager("path"),
  parameters: { path: tenant, headers: writing },
  body: { schema: AdvertiseSettings, limit: "configBytes" },
  answers: { 200: { description: "The settings.", data: AdvertiseResult, etag: true, generation: true } },
  examples: {
    summary: {
      path: { tenant: "demo" },
      body: { advertiseResources: true, variants: { summary: true, full: false, stats: true } },
    },
  },

  async handle(services: IndexDeps, { principal, tenant: owner, spelling, headers, body: settings, answer }) {
    const writer = writerFrom(principal, { tenant: owner, spelling }, headers);
    const written = unwrap(await services.tenant(owner).setAdvertise(writer, settings));
    const { etag, ...data } = shownAdvertise(written.tenant, settings, written.since, written.generation);
    const meta = { etag, generation: written.generation, source: "object" as const };
    return answer(200, { ...data, changed: written.changed }, meta);
  },
});

const fitIndex = operation({
  id: "fitIndex",
  method: "post",
  path: `${path}/budget`,
  tag: "Find",
  summary: "Make the best index for a task within a token budget",
  description: "As JSON with what is in the text, or the YAML text alone with `Accept: text/yaml`.",
  access: anyone,
  parameters: { path: tenant, headers: minGeneration },
  body: { schema: IndexBudgetRequest, limit: "configBytes" },
  answers: {
    200: {
      description: "The text, its tokens, and what is in it at which level of detail.",
      data: BudgetIndex,
      media: ["text/yaml"],
      generation: true,
      directory: "sometimes",
    },
  },
  fails: ["ErrorTenantPermissionError"],
  cached: true,
  examples: { rain: { path: { tenant: "demo" }, body: { task: "will it rain tomorrow", budget: 500 } } },

  async handle(services: IndexDeps, { principal, path: { tenant: owner }, headers, body, c, answer }) {
    const { minGeneration: wanted } = freshnessFrom(headers);
    const { shown, generation } = unwrap(await visibleTenant(services, principal, owner, wanted));
    throwIf(checkSearchLimit(services, principal));
    const { holds, directory, ...fitted } = await fitCapabilityIndex(services, principal, shown, body);
    const cache = holds && { holds, variesBy: { member: owner } };
    const vary = { Vary: "Accept, Origin" };
    const meta: AnswerMeta = { generation, source: "object", directory, headers: vary, cache };
    if (!acceptsYaml(c.req.header("Accept"))) return answer(200, { ...fitted, generation }, meta);
    return answer.raw(200, fitted.index, { ...meta, type: "text/yaml; charset=utf-8" });
  },
});

function acceptsYaml(accept = ""): boolean {
  return /\b(?:application|text)\/(?:x-)?yaml\b/i.test(accept);
}

const variant = z
  .string()
  .describe("`summary` and `full` are YAML, `stats` is JSON.")
  .meta({ examples: ["summary"] });

const answers = {
  200: { description: "The index.", json: IndexStats, media: ["text/yaml"], etag: true, generation: true },
} as const;

const indexFails: readonly FailureCode[] = [
  "ErrorTenantPermissionError",
  "ErrorIndexDisabled",
  "ErrorIndexTooLarge",
  "resource_not_found",
];

const getTenantIndex = operation({
  id: "getTenantIndex",
  method: "get",
  path: `${path}/{variant}`,
  tag: "Find",
  summary: "Read a tenant's capability index",
  description: "If the variant is advertised.",
  access: anyone,
  parameters: { path: { ...tenant, variant }, headers: reading },
  answers,
  fails: indexFails,
  examples: {
    summary: {
      path: { tenant: "demo", variant: "summary" },
      after: { id: "setAdvertise", take: () => ({}) },
    },
  },

  async handle(services: IndexDeps, { principal, path: { tenant: owner, variant: wanted }, headers, answer }) {
    const { text, ...meta } = await readText(services, principal, { tenant: owner }, wanted, headers);
    return answer.raw(200, text, meta);
  },
});

const getServerIndex = operation({
  id: "getServerIndex",
  method: "get",
  path: `${path}/{name}/{variant}`,
  tag: "Find",
  summary: "Read a server's capability index",
  description: "If the variant is advertised in the server's settings.",
  access: anyone,
  parameters: { path: { ...server, variant }, headers: reading },
  answers,
  fails: [...indexFails, "ErrorMCPServerNotFound"],
  examples: { summary: { path: { tenant: "demo", name: "weather", variant: "summary" } } },

  async handle(services: IndexDeps, { principal, path: { variant: wanted, ...ref }, headers, answer }) {
    const { text, ...meta } = await readText(services, principal, ref, wanted, headers);
    return answer.raw(200, text, meta);
  },
});

/** The text of an index with the metadata of its answer; no text if the caller has it already. */
async function readText(
  services: IndexDeps,
  principal: Parameters<typeof readIndex>[1],
  ref: Parameters<typeof readIndex>[2],
  wanted: string,
  headers: Parameters<typeof freshnessFrom>[0] & { "If-None-Match"?: string | undefined },
) {
  const options = { freshness: freshnessFrom(headers), ifNoneMatch: headers["If-None-Match"], onlyAdvertised: true };
  const { etag, generation, mimeType, shown } = unwrap(await readIndex(services, principal, ref, wanted, options));
  const type = `${mimeType}; charset=utf-8`;
  return { text: shown?.text ?? null, type, etag, generation, source: "object" as const };
}

export const indexOperations = [getAdvertise, setAdvertise, fitIndex, getTenantIndex, getServerIndex];
