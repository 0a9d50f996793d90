import { z } from "zod";
import { manager, reader } from "../../http/access.ts";
import { parseBody } from "../../http/body.ts";
import { requestError, unwrap } from "../../http/context.ts";
import { named } from "../../http/named.ts";
import { operation } from "../../http/operation.ts";
import { flag, freshnessFrom, reading, server } from "../../http/parameters.ts";
import { isObject } from "../../kernel/json.ts";
import { readItem } from "../../manifest/intake/intake.ts";
import { Generator } from "../../manifest/schema/capability.ts";
import { GeneratorResult } from "../answer-schema.ts";
import type { RegistryDeps } from "../deps.ts";
import { Preflight } from "../generators/preflight.ts";
import { preflightOf, selectFrom } from "../generators/read.ts";
import { registerGenerator as register } from "../generators/register.ts";
import { Selection } from "../generators/select.ts";
import { publishMeta, publishResult } from "../publish-answer.ts";
import { readManifest } from "../read.ts";
import { generatorsView } from "../views/generators.ts";
import { GeneratorsView, PreflightRequest } from "../views/schema.ts";
import { writerFrom } from "../write.ts";
import { answerNamedView, viewFails } from "./answer-view.ts";

const path = "/api/mcp/capabilities/{tenant}/{name}/generators";

const fresh = {
  "Rollcall-Min-Generation": reading["Rollcall-Min-Generation"],
  "Cache-Control": reading["Cache-Control"],
};

const getGenerators = operation({
  id: "getGenerators",
  method: "get",
  path,
  tag: "Find",
  summary: "Read the generators of a server",
  description: "The view `capabilities://generators`: the generators, and how one is selected.",
  access: reader,
  parameters: { path: server, headers: reading },
  answers: { 200: { description: "The view.", json: GeneratorsView, etag: true, generation: true } },
  fails: viewFails,
  cached: true,
  examples: { compose: { path: { tenant: "demo", name: "compose" } } },

  handle: (services: RegistryDeps, call) => answerNamedView(services, call, generatorsView),
});

const registerGenerator = operation({
  id: "registerGenerator",
  method: "post",
  path,
  tag: "Publish",
  summary: "Register a generator as a plugin",
  description:
    "Publishes the server's manifest with the generator added. A type that exists is replaced if `override` is true, in the query or in the body.",
  access: manager("path"),
  parameters: {
    path: server,
    query: {
      override: flag
        .optional()
        .describe("Replaces the generator of the same type; the same as `override` in the body."),
    },
  },
  body: { schema: Generator, read: "document", limit: "configBytes" },
  answers: {
    201: { description: "Registered.", data: GeneratorResult, etag: true, generation: true, directory: "sometimes" },
  },
  fails: [
    "ErrorMCPServerNotFound",
    "ErrorGeneratorExists",
    "ErrorCapabilityCollision",
    "ErrorSameVersion",
    "ErrorPreconditionFailed",
  ],
  examples: {
    haiku: {
      path: { tenant: "demo", name: "compose" },
      query: { override: true },
      body: { type: "haiku", description: "Writes three lines.", requirements: { fields: ["topic"] } },
      status: 201,
    },
  },

  async handle(services: RegistryDeps, { principal, tenant, spelling, path: ref, query: { override }, body, answer }) {
    const generator = parseBody(Generator, unwrap(readItem("generators", body)));
    if (override !== undefined && generator.override !== undefined && override !== generator.override) {
      throw requestError(
        "ErrorBadRequest",
        `override is ${override} in the query and ${generator.override} in the body`,
      );
    }
    const replaces = override ?? generator.override ?? false;
    const writer = writerFrom(principal, { tenant, spelling });
    const published = unwrap(await register(services, ref, writer, generator, replaces));
    const { status: _, ...meta } = publishMeta(published);
    const result = publishResult(published, { partial: false, dryRun: false }, services.now());
    return answer(201, { type: generator.type, ...result }, meta);
  },
});

const GeneratorConfig = named(
  "GeneratorConfig",
  z.record(z.string(), z.unknown()).describe("A config of any form; the selection rules decide what it lacks."),
);

const selectGenerator = operation({
  id: "selectGenerator",
  method: "post",
  path: `${path}/select`,
  tag: "Find",
  summary: "Select a generator for a config",
  description:
    "Which of the server's generators the config is for, and why. A body that fits the preflight, `{config}`, is taken for its config.",
  access: reader,
  parameters: { path: server, headers: fresh },
  body: { schema: GeneratorConfig, read: "document", limit: "configBytes" },
  answers: { 200: { description: "The generator, and the other candidates.", data: Selection } },
  fails: viewFails,
  examples: {
    template: {
      path: { tenant: "demo", name: "compose" },
      body: { generation: { patterns: [{ template: "Dear {{ name }}" }] } },
    },
  },

  async handle(services: RegistryDeps, { principal, path: ref, headers, body: { value, issues }, answer }) {
    const published = unwrap(await readManifest(services, principal, ref, freshnessFrom(headers)));
    const [damage] = issues;
    if (damage !== undefined) throw requestError("ErrorInvalidBody", `${damage.path} ${damage.message}`, { issues });
    if (!isObject(value)) throw requestError("ErrorMCPServerValidation", "The body must be a JSON object");
    return answer(200, unwrap(selectFrom(published, configIn(value))));
  },
});

/** The config in a body that is meant for the preflight as well, or else the body. */
function configIn(body: Record<string, unknown>): Record<string, unknown> {
  const isWrapped = Object.keys(body).every((key) => Object.hasOwn(PreflightRequest.shape, key));
  return isWrapped && isObject(body.config) ? body.config : body;
}

const preflightGenerator = operation({
  id: "preflightGenerator",
  method: "post",
  path: `${path}/{type}/preflight`,
  tag: "Find",
  summary: "Check whether a generator can run",
  description: "On a config, with the credentials that the caller names.",
  access: reader,
  parameters: {
    path: {
      ...server,
      type: z
        .string()
        .describe("Type of the generator.")
        .meta({ examples: ["jinja2"] }),
    },
    headers: fresh,
  },
  body: { schema: PreflightRequest, limit: "configBytes" },
  answers: { 200: { description: "What is missing, and advice on timeout and concurrency.", data: Preflight } },
  fails: viewFails,
  examples: {
    code: {
      path: { tenant: "demo", name: "compose", type: "code_generation" },
      body: { config: { generation: { patterns: [{ specification: "Reverse a list" }] } }, credentials: [] },
    },
  },

  async handle(services: RegistryDeps, { principal, path: { type, ...ref }, headers, body, answer }) {
    const published = unwrap(await readManifest(services, principal, ref, freshnessFrom(headers)));
    return answer(200, unwrap(preflightOf(published, type, body)));
  },
});

export const generatorsOperations = [getGenerators, registerGenerator, selectGenerator, preflightGenerator];
