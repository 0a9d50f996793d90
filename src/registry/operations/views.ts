import { z } from "zod";
import { reader } from "../../http/access.ts";
import { RequestFailed, unwrap } from "../../http/context.ts";
import { operation } from "../../http/operation.ts";
import { reading, server } from "../../http/parameters.ts";
import { failure } from "../../kernel/failure.ts";
import { AnyView } from "../answer-schema.ts";
import type { RegistryDeps } from "../deps.ts";
import { findView } from "../read.ts";
import { answerView, readFails } from "./answer-view.ts";

const getView = operation({
  id: "getView",
  method: "get",
  path: "/api/mcp/capabilities/{tenant}/{name}/{view}",
  tag: "Find",
  summary: "Read one view of a server",
  description: "The `capabilities://` views: server, tools, resources, generators, or one that the manifest declares.",
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
  fails: [...readFails, "resource_not_found", "server_error"],
  cached: true,
  examples: { tools: { path: { tenant: "demo", name: "weather", view: "tools" } } },

  async handle(services: RegistryDeps, call) {
    const view = unwrap(findView(call.path.view));
    try {
      return await answerView(services, call, view);
    } catch (error) {
      // An internal error while rendering a view is reported as `server_error`.
      if (!(error instanceof RequestFailed) || error.failure.code !== "ErrorInternalServer") throw error;
      throw new RequestFailed(failure("server_error", error.failure.message));
    }
  },
});

export const viewsOperations = [getView];
