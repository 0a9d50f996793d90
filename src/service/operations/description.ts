import { z } from "zod";
import { everyone } from "../../http/access.ts";
import { requestError } from "../../http/context.ts";
import { originPlaceholder } from "../../http/openapi/asset.ts";
import { operation } from "../../http/operation.ts";
import { publicOrigin } from "../../http/respond.ts";
import { readJson } from "../../kernel/read-json.ts";
import type { ServiceDeps } from "../deps.ts";
import { JsonSchema, OpenApiDocument, SchemaList } from "../schema.ts";

const fixed = { "Cache-Control": "public, max-age=3600" };

const getDescription = operation({
  id: "getDescription",
  method: "get",
  path: "/openapi.json",
  tag: "Service",
  summary: "Read this description",
  access: everyone,
  answers: { 200: { description: "OpenAPI 3.1.", json: OpenApiDocument } },
  examples: { document: {} },

  async handle(services: ServiceDeps, { c, answer }) {
    const text = await services.openapi("json");
    return answer.raw(200, text.replace(originPlaceholder, publicOrigin(c, services.config)), { headers: fixed });
  },
});

const getDescriptionAsYaml = operation({
  id: "getDescriptionAsYaml",
  method: "get",
  path: "/openapi.yaml",
  tag: "Service",
  summary: "Read this description as YAML",
  access: everyone,
  answers: { 200: { description: "OpenAPI 3.1.", media: ["application/yaml"] } },
  examples: { document: {} },

  async handle(services: ServiceDeps, { c, answer }) {
    const text = await services.openapi("yaml");
    return answer.raw(200, text.replace(originPlaceholder, publicOrigin(c, services.config)), {
      type: "application/yaml; charset=utf-8",
      headers: fixed,
    });
  },
});

const getGuideForModels = operation({
  id: "getGuideForModels",
  method: "get",
  path: "/llms.txt",
  tag: "Service",
  summary: "Read what a model needs to use the registry",
  access: everyone,
  answers: { 200: { description: "Markdown: how to start, and every operation in a line.", media: ["text/markdown"] } },
  examples: { text: {} },

  async handle(services: ServiceDeps, { c, answer }) {
    const text = await services.guideForModels();
    return answer.raw(200, text.replaceAll(originPlaceholder, publicOrigin(c, services.config)), {
      type: "text/markdown; charset=utf-8",
      headers: fixed,
    });
  },
});

let files: ReadonlyMap<string, string> | undefined;

/** The JSON Schemas by file: generated, and the same for every caller. */
async function schemaFiles({ publishedSchemas }: ServiceDeps): Promise<ReadonlyMap<string, string>> {
  if (files === undefined) {
    const schemas = Object.entries(readJson(await publishedSchemas()) as Record<string, unknown>);
    files = new Map(schemas.map(([name, schema]) => [`${name}.schema.json`, JSON.stringify(schema)]));
  }
  return files;
}

const listSchemas = operation({
  id: "listSchemas",
  method: "get",
  path: "/schemas/",
  tag: "Service",
  summary: "List the published JSON Schemas",
  access: everyone,
  answers: { 200: { description: "Their paths.", data: SchemaList } },
  examples: { all: {} },

  async handle(services: ServiceDeps, { answer }) {
    const names = [...(await schemaFiles(services)).keys()];
    return answer(200, { items: names.map((file) => `/schemas/${file}`) });
  },
});

const getSchema = operation({
  id: "getSchema",
  method: "get",
  path: "/schemas/{file}",
  tag: "Service",
  summary: "Read one JSON Schema",
  access: everyone,
  parameters: { path: { file: z.string().meta({ examples: ["manifest.schema.json"] }) } },
  answers: { 200: { description: "The schema.", json: JsonSchema, type: "application/schema+json" } },
  fails: ["ErrorNotFound"],
  examples: { manifest: { path: { file: "manifest.schema.json" } } },

  async handle(services: ServiceDeps, { path: { file }, answer }) {
    const text = (await schemaFiles(services)).get(file);
    if (text === undefined) throw requestError("ErrorNotFound", "Unknown schema; /schemas/ lists them");
    return answer.raw(200, text, { type: "application/schema+json; charset=utf-8", headers: fixed });
  },
});

export const descriptionOperations = [getDescription, getDescriptionAsYaml, getGuideForModels, listSchemas, getSchema];
