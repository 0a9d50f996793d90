import { z } from "zod";
import { reader } from "../../http/access.ts";
import { operation } from "../../http/operation.ts";
import { reading, server } from "../../http/parameters.ts";
import { AnyView } from "../answer-schema.ts";
import type { RegistryDeps } from "../deps.ts";
import { namedView } from "../views/named.ts";
import { answerNamedView, viewFails } from "./answer-view.ts";

const getView = operation({
  id: "getView",
  method: "get",
  path: "/api/mcp/capabilities/{tenant}/{name}/{view}",
  tag: "Find",
  summary: "Read one view of a server",
  description:
    "The `capabilities://` views: server, tools, resources, generators, operations where there are any, or one that the " +
    "manifest declares. The server view lists them.",
  access: reader,
  parameters: {
    path: {
      ...server,
      view: z
        .string()
        .describe("Name of the view.")
        .meta({ examples: ["tools"] }),
    },
    headers: reading,
  },
  answers: { 200: { description: "The view.", json: AnyView, etag: true, generation: true } },
  fails: viewFails,
  cached: true,
  examples: { tools: { path: { tenant: "demo", name: "weather", view: "tools" } } },

  handle: async (services: RegistryDeps, call) => answerNamedView(services, call, namedView(call.path.view)),
});

export const viewsOperations = [getView];
