import { fileURLToPath } from "node:url";
import { cloudflareTest } from "@cloudflare/vitest-pool-workers";
import { defineConfig } from "vitest/config";
import { oneModule } from "./test/worker/one-module.ts";

// The commands that whole-process tests start are the same few scripts, a few hundred times: Node keeps what it compiled.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL(".wrangler/compile-cache", import.meta.url));

/** In CI a test of whole processes that failed is tried once more; the report says so. Pure rules have no second try. */
const retry = process.env.CI === undefined ? 0 : 1;

/** What a person installs, types and reads: started a few hundred times, so `npm run test:commands` has it for itself. */
const commands = [
  ...["test/e2e/package", "test/e2e/clients", "test/e2e/docs"].map((folder) => `${folder}/**/*.test.ts`),
  ...["commands", "demo", "examples", "rebuild-directory", "serve", "smoke", "start", "token"].map(
    (name) => `test/e2e/${name}.test.ts`,
  ),
];
/** Several Workers, and servers, clients, subscribers and catalogues of others, each with processes of its own: `npm run test:peers`. */
const peers = ["changes", "directory", "mcp", "official", "outbound", "search", "sources", "subscriptions"].map(
  (folder) => `test/e2e/${folder}/**/*.test.ts`,
);
peers.push("test/e2e/own-address.test.ts", "test/e2e/registry/{poison,real-servers}.test.ts");
const wholeProcesses = { retry, testTimeout: 120_000, hookTimeout: 120_000 };

export default defineConfig({
  test: {
    // What passes says nothing; a failure brings its log along.
    silent: "passed-only",
    // Both cores of a small machine: by default one is left idle.
    maxWorkers: 2,
    projects: [
      // Pure rules: no Worker, no bindings.
      // Properties over many inputs take seconds on a busy machine.
      { test: { name: "unit", include: ["test/unit/**/*.test.ts"], testTimeout: 30_000 } },
      // Inside workerd with real KV and Durable Objects.
      {
        plugins: [
          cloudflareTest({
            wrangler: { configPath: "./wrangler.toml" },
            miniflare: {
              // Tests negotiate far more often than one network may.
              bindings: {
                JWT_SECRET: "a-secret-for-tests-that-is-long-enough",
                ANONYMOUS_NEGOTIATE_LIMIT: "100000/100000",
              },
            },
          }),
          // After the pool's own plugin, whose settings it narrows.
          oneModule(),
        ],
        test: {
          name: "worker",
          retry,
          include: ["test/worker/**/*.test.ts"],
          // The Worker serves the console's files as the build makes them.
          globalSetup: ["./test/worker/console-files.ts"],
          silent: "passed-only",
          testTimeout: 30_000,
          hookTimeout: 30_000,
        },
      },
      // Whole processes, few and quick.
      {
        test: { name: "e2e", ...wholeProcesses, include: ["test/e2e/**/*.test.ts"], exclude: [...commands, ...peers] },
      },
      // Whole processes: the package, the commands and the docs' own blocks.
      { test: { name: "commands", ...wholeProcesses, include: commands } },
      // Whole processes: data centres, sources and subscribers that are real or hostile servers, the official registry's entries, whole catalogues.
      { test: { name: "peers", ...wholeProcesses, include: peers } },
    ],
  },
});
