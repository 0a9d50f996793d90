import { z } from "zod";
import { everyone } from "../../http/access.ts";
import { unwrap } from "../../http/context.ts";
import { operation } from "../../http/operation.ts";
import { ifNoneMatch, required } from "../../http/parameters.ts";
import { digestOfText } from "../../kernel/digest.ts";
import { AnyView } from "../../registry/answer-schema.ts";
import { inSession, sessionHeader } from "../../sessions/access.ts";
import type { McpDeps } from "../deps.ts";
import { ownView } from "../resources/own-manifest.ts";
import { readResource as readContents } from "../resources/resources.ts";

/** Views of the registry itself, and MCP resources, over plain HTTP. */

const getOwnView = operation({
  id: "getOwnView",
  method: "get",
  path: "/api/mcp/capabilities/{view}",
  tag: "MCP",
  summary: "Read one view of the registry itself",
  description: "The same views as of any server: server, tools, resources, generators; and operations, its HTTP API.",
  access: everyone,
  parameters: {
    path: {
      view: z
        .string()
        .describe("Name of the view.")
        .meta({ examples: ["server"] }),
    },
  },
  answers: { 200: { description: "The view.", json: AnyView } },
  fails: ["resource_not_found"],
  examples: { server: { path: { view: "server" } } },

  async handle(services: McpDeps, { path: { view }, answer }) {
    const { text, contentType } = unwrap(await ownView(services, view));
    return answer.raw(200, text, { type: contentType, source: "memory" });
  },
});

const readResource = operation({
  id: "readResource",
  method: "get",
  path: "/mcp/resource",
  tag: "MCP",
  summary: "Read a resource",
  description: "The resources of the MCP endpoint: views of the registry and of servers, and capability indexes.",
  access: inSession,
  errors: "session",
  parameters: {
    query: {
      uri: required(z.string(), "say which resource, such as capabilities://server").describe(
        "URI of the resource, such as `capabilities://server`.",
      ),
    },
    headers: { ...sessionHeader, "If-None-Match": ifNoneMatch },
  },
  answers: {
    200: {
      description: "The text of the resource.",
      json: AnyView,
      media: ["text/yaml"],
      etag: true,
      headers: { "Rollcall-Generation": "The generation of the tenant, if the resource is of one." },
    },
  },
  fails: [
    "resource_not_found",
    "server_error",
    "ErrorMCPServerNotFound",
    "ErrorSourceUnavailable",
    "ErrorTenantPermissionError",
    "ErrorIndexDisabled",
    "ErrorIndexTooLarge",
  ],
  examples: { server: { query: { uri: "capabilities://server" } } },

  async handle(services: McpDeps, { principal, query: { uri }, answer }) {
    const { text, mimeType, etag, generation } = unwrap(await readContents(services, principal, uri));
    return answer.raw(200, text, {
      type: `${mimeType}; charset=utf-8`,
      etag: etag ?? `W/"${(await digestOfText(text)).slice(7, 39)}"`,
      generation,
    });
  },
});

export const resourcesOperations = [getOwnView, readResource];
