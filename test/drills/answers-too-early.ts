import worker from "../../src/index.ts";

export { DirectoryObject, SessionObject, StreamObject, TenantObject } from "../../src/index.ts";

/**
 * The control of the crash drill: answers a publish before the tenant's object has taken it, so that a drill that cannot
 * find losses here cannot find any. An entry of its own is the only switch; a deployed Worker has no way to this file.
 */
export default {
  async fetch(request, env, ctx) {
    if (request.method !== "PUT" || !new URL(request.url).pathname.startsWith("/api/mcp/capabilities/")) {
      return worker.fetch(request, env, ctx);
    }
    const body = await request.arrayBuffer();
    ctx.waitUntil(
      scheduler
        .wait(300)
        .then(async () => (await worker.fetch(new Request(request, { body }) as never, env, ctx)).arrayBuffer()),
    );
    return Response.json({ success: true, data: { generation: 0 } }, { status: 201 });
  },
} satisfies ExportedHandler<Env>;
