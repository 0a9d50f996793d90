import { createFetch } from "../../src/app.ts";
import type { App } from "../../src/http/context.ts";
import { postMessage } from "../../src/mcp/operations/message.ts";
import { operations } from "../../src/operations.ts";
import { createWasmKernel, installKernel } from "../../src/search/index/kernel.ts";
import kernel from "../../src/search/index/kernel.wasm";
import { createServices } from "../../src/services.ts";
import { withFixtures } from "./fixtures.ts";

export { DirectoryObject } from "../../src/objects/directory/directory-object.ts";
export { SessionObject } from "../../src/objects/session-object.ts";
export { StreamObject } from "../../src/objects/stream-object.ts";
export { TenantObject } from "../../src/objects/tenant/tenant-object.ts";

installKernel(createWasmKernel(kernel));

const endpoint = postMessage(withFixtures);
const served = operations.map((operation) => (operation.id === endpoint.id ? endpoint : operation));

let answer: App["fetch"] | undefined;

/**
 * The registry with the fixtures of the conformance suite beside its own tools, resources and prompts. Being an entry of
 * its own is the switch: a deployed Worker is built from src/index.ts and has no way to reach this file.
 */
export default {
  fetch(request, env, ctx) {
    answer ??= createFetch(createServices(env), served);
    return answer(request, env, ctx);
  },
} satisfies ExportedHandler<Env>;
