import { createFetch } from "./app.ts";
import { ConfigError } from "./config.ts";
import type { App } from "./http/context.ts";
import dots from "./search/index/dots.wasm";
import { createWasmKernel, installKernel } from "./search/index/kernel.ts";
import { createServices } from "./services.ts";

export { DirectoryObject } from "./objects/directory/directory-object.ts";
export { SessionObject } from "./objects/session-object.ts";
export { StreamObject } from "./objects/stream-object.ts";
export { TenantObject } from "./objects/tenant/tenant-object.ts";

installKernel(createWasmKernel(dots));

let answer: App["fetch"] | undefined;

export default {
  fetch(request, env, ctx) {
    try {
      answer ??= createFetch(createServices(env));
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const body = { success: false, error: { code: "ErrorNotConfigured", message: error.message } };
      return Response.json(body, { status: 503 });
    }
    return answer(request, env, ctx);
  },
} satisfies ExportedHandler<Env>;
