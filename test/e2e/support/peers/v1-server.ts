import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { capabilities, instructions, pageOf, serverInfo } from "./declared.ts";

/** The official server as it was before 2026, without a transport. */
export function createV1Server(): Server {
  const server = new Server(serverInfo, { capabilities, instructions });
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => pageOf("tools", params?.cursor));
  server.setRequestHandler(ListPromptsRequestSchema, ({ params }) => pageOf("prompts", params?.cursor));
  server.setRequestHandler(ListResourcesRequestSchema, ({ params }) => pageOf("resources", params?.cursor));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, ({ params }) =>
    pageOf("resourceTemplates", params?.cursor),
  );
  return server;
}
