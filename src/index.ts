import { exports as own, WorkerEntrypoint } from "cloudflare:workers";
import { createFetch } from "./app.ts";
import { ConfigError } from "./config.ts";
import { notConfiguredPage } from "./console/not-configured.tsx";
import type { App } from "./http/context.ts";
import type { CachedEntrypoint } from "./kernel/platform/platform-cache.ts";
import { createWasmKernel, installKernel } from "./search/index/kernel.ts";
import kernel from "./search/index/kernel.wasm";
import { createServices, type Services } from "./services.ts";

export { DirectoryObject } from "./objects/directory/directory-object.ts";
export { SessionObject } from "./objects/session-object.ts";
export { StreamObject } from "./objects/stream-object.ts";
export { TenantObject } from "./objects/tenant/tenant-object.ts";

installKernel(createWasmKernel(kernel));

let services: Services | undefined;
let answer: App["fetch"] | undefined;

/**
 * What the platform's cache stands in front of (`[exports.PublicAnswers]` of wrangler.toml): answers of public servers that
 * depend on nothing but their path. Only this Worker calls it, after it has checked what the caller may read.
 */
export class PublicAnswers extends WorkerEntrypoint<Env> implements CachedEntrypoint {
  override fetch(request: Request): Promise<Response> {
    services ??= createServices(this.env, { cachedEntrypoint: own.PublicAnswers });
    return services.answerPublic(request);
  }

  async purge(tags: string[]) {
    const refused = { success: false, errors: [{ code: 0, message: "the platform has no cache here" }] };
    return (await this.ctx.cache?.purge({ tags })) ?? refused;
  }

  async hasCache(): Promise<boolean> {
    return this.ctx.cache !== undefined;
  }
}

export default {
  fetch(request, env, ctx) {
    try {
      services ??= createServices(env, { cachedEntrypoint: own.PublicAnswers });
      answer ??= createFetch(services);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      if (/\btext\/html\b/i.test(request.headers.get("Accept") ?? "")) return notConfiguredPage(error.message);
      const body = { success: false, error: { code: "ErrorNotConfigured", message: error.message } };
      return Response.json(body, { status: 503 });
    }
    return answer(request, env, ctx);
  },
} satisfies ExportedHandler<Env>;
