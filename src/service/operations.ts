import { z } from "zod";
import { everyone } from "../http/access.ts";
import { named } from "../http/named.ts";
import { originPlaceholder } from "../http/openapi/asset.ts";
import { operation } from "../http/operation.ts";
import { publicOrigin } from "../http/respond.ts";
import type { ServiceDeps } from "./deps.ts";

const OpenApiDocument = named(
  "OpenApiDocument",
  z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) }).describe("An OpenAPI document."),
);

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

export const serviceOperations = [getDescription, getDescriptionAsYaml];
