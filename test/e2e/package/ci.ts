import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { plainEnvironment, run } from "./installed.ts";
import type { Shared } from "./shared.ts";

/** Runs the steps of the Action and of both workflows, as a runner would, with the packed package and a real registry. */

const root = join(import.meta.dirname, "../../..");

interface Step {
  name?: string;
  run?: string;
  if?: string;
  env?: Record<string, string>;
}

/** By its path: a link in node_modules would be taken for a stray package by `npm install`, and emptied. */
const sdk = join(root, "node_modules/@modelcontextprotocol/sdk/dist/esm/server");
const server = (...names: string[]) => `
  import { McpServer } from "${sdk}/mcp.js";
  import { StdioServerTransport } from "${sdk}/stdio.js";
  const server = new McpServer({ name: "ci", version: "1.0.0" });
  for (const name of ${JSON.stringify(names)}) server.registerTool(name, { description: name }, async () => ({ content: [] }));
  await server.connect(new StdioServerTransport());
`;

export function ciSuite(shared: Shared): void {
  /** A folder as a checkout leaves it. */
  const checkout = (...tools: string[]) => {
    const folder = mkdtempSync(join(shared.installed.folder, "ci-"));
    writeFileSync(join(folder, "package.json"), '{"private": true}\n');
    writeFileSync(join(folder, "server.mjs"), server(...tools));
    return folder;
  };

  /** Runs steps until one fails; `values` stand for what a runner puts in place of expressions. */
  const runSteps = async (steps: Step[], folder: string, values: Record<string, string>) => {
    const outputs = join(folder, "outputs");
    writeFileSync(outputs, "");
    const filled = (text: string) =>
      text.replaceAll(/\$\{\{ *([^}]+?) *\}\}/g, (_whole, name: string) => values[name] ?? "");
    let code = 0;
    let output = "";
    for (const { run: script, env = {}, if: condition } of steps) {
      if (script === undefined || code !== 0) continue;
      const [, negated, wanted] = /inputs\.verify (!?)=+ '(\w+)'/.exec(condition ?? "") ?? [];
      const isVerify = (values["inputs.verify"] ?? "false") === wanted;
      if (wanted !== undefined && isVerify === (negated === "!")) continue;
      const given = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, filled(value)]));
      const runner = { RUNNER_TEMP: folder, GITHUB_OUTPUT: outputs, npm_config_offline: "true", CI: "true" };
      const child = spawn("bash", ["-eo", "pipefail", "-c", script.replaceAll("acme/weather", "recipes/weather")], {
        cwd: folder,
        env: plainEnvironment(folder, { ...runner, ...given }),
      });
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding("utf8").on("data", (text: string) => {
          output += text;
        });
      code = await new Promise((resolve) => child.once("close", (status) => resolve(status ?? 1)));
    }
    return {
      code,
      output,
      outputs: Object.fromEntries(
        readFileSync(outputs, "utf8")
          .trim()
          .split("\n")
          .map((line) => line.split("=")),
      ),
    };
  };

  const hookFor = async (tenant: string, name: string) => {
    const env = { ROLLCALL_URL: shared.registry.url, ROLLCALL_TOKEN: await shared.token(tenant) };
    await run(shared.installed, ["server", "create", `${tenant}/${name}`, "--visibility", "public"], { env });
    const { stdout } = await run(shared.installed, ["hooks", "add", `${tenant}/${name}`, "--json"], { env });
    return { ...(JSON.parse(stdout) as { url: string; secret: string }), env };
  };

  describe("in CI", () => {
    it("the Action publishes with a hook, tells what it did, and stops before a breaking change", async () => {
      const action = parse(readFileSync(join(root, ".github/actions/rollcall/action.yml"), "utf8"));
      const { url, secret } = await hookFor("actions", "weather");
      const values = {
        "inputs.package": shared.installed.tarball.path,
        "inputs.server": "actions/weather",
        "inputs.command": "node server.mjs",
        "inputs.fail-on": action.inputs["fail-on"].default,
        "inputs.hook-url": url,
        "inputs.hook-secret": secret,
        "inputs.release": "1",
      };
      const folder = checkout("a", "b");
      const first = await runSteps(action.runs.steps, folder, values);
      expect(first).toMatchObject({ code: 0, outputs: { digest: expect.stringMatching(/^sha256-/), breaking: "0" } });
      expect(Number(first.outputs.generation)).toBeGreaterThan(0);
      writeFileSync(join(folder, "server.mjs"), server("a"));
      const installed = action.runs.steps.filter(({ name }: Step) => name !== "Install");
      const broken = await runSteps(installed, folder, { ...values, "inputs.release": "2" });
      expect(broken.code).toBe(3);
      expect(first.output + broken.output).not.toContain(secret);
    });

    it("the workflows publish at a tag, and verify", async () => {
      const jobs = (name: string) => parse(readFileSync(join(root, "examples/workflows", name), "utf8"));
      const publish = jobs("publish.yml");
      const verify = jobs("verify.yml");
      expect(JSON.stringify([publish, verify])).not.toContain("pull_request_target");
      const { url, secret, env } = await hookFor("recipes", "weather");
      const values = {
        "vars.ROLLCALL_PACKAGE": shared.installed.tarball.path,
        "secrets.ROLLCALL_HOOK_URL": url,
        "secrets.ROLLCALL_HOOK_SECRET": secret,
        "github.run_number": "12",
        "vars.ROLLCALL_URL": shared.registry.url,
      };
      const folder = checkout("a", "b");
      // There is no lock file of a package manager in this checkout.
      const steps = publish.jobs.publish.steps.filter(({ name }: Step) => name === "Publish");
      expect(await runSteps(steps, folder, values)).toMatchObject({
        code: 0,
        output: expect.stringContaining("Published recipes/weather"),
      });
      expect(await run(shared.installed, ["pin", "recipes/weather"], { env, cwd: folder })).toMatchObject({ code: 0 });
      expect(await runSteps(verify.jobs.verify.steps, folder, values)).toMatchObject({ code: 0 });
    });
  });
}
