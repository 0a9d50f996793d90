import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { projectPath } from "./project.ts";

type Json = Record<string, unknown>;

/** What src/openapi.ts exports. */
export interface Description {
  openApiDocument(origin: string): Json;
  originPlaceholder: string;
  operationFacts(): { id: string; who: string; fails: string[] }[];
  failureCodes: string[];
  statusOf(code: string): number;
  failure(code: string): { message: string; details?: { hint?: string } };
  jsonSchemas(uri: (name: string) => string): Record<string, Json>;
}

const platform = "\0cloudflare:";

function platformId(id: string): string | undefined {
  return id.startsWith("cloudflare:") ? `${platform}${id.slice("cloudflare:".length)}` : undefined;
}

/** Operations are only described here, never run. */
function platformModule(id: string): string | undefined {
  if (!id.startsWith(platform)) return undefined;
  return "export const env = {}; export const waitUntil = () => {}; export class DurableObject {}";
}

/** Bundles the operations for Node: as source they import modules that only the Worker's bundler resolves. */
export async function loadDescription(): Promise<Description> {
  const file = projectPath(".wrangler/generate/openapi.mjs");
  const bundle = await rolldown({
    cwd: projectPath("."),
    input: "./src/openapi.ts",
    platform: "node",
    external: /^node:/,
    plugins: [{ name: "platform", resolveId: platformId, load: platformModule }],
  });
  await bundle.write({ file, codeSplitting: false });
  await bundle.close();
  return import(pathToFileURL(file).href);
}
