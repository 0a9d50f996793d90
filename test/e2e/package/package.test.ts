import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { ciSuite } from "./ci.ts";
import { installPackage, nodes, removePacked, run } from "./installed.ts";
import { mistakeSuite } from "./mistakes.ts";
import { shareRegistry } from "./shared.ts";
import { endTutorial, runTutorial } from "./tutorial.ts";

/** The npm package from its tarball, in an empty folder, against a fresh registry. */

const shared = shareRegistry(installPackage);

afterAll(() => {
  endTutorial();
  removePacked();
});

describe("the package", () => {
  it("is one package without dependencies, and small", () => {
    const { bytes, unpacked, files } = shared.installed.tarball;
    expect(bytes).toBeLessThanOrEqual(350_000);
    expect(unpacked).toBeLessThanOrEqual(1_200_000);
    expect(files.filter((file) => !/^(dist\/|schemas\/|package\.json$|README\.md$|LICENSE$)/.test(file))).toEqual([]);
    const listed = execFileSync("npm", ["ls", "--all", "--json"], { cwd: shared.installed.folder, encoding: "utf8" });
    expect(Object.keys(JSON.parse(listed).dependencies)).toEqual(["rollcall"]);
    expect(JSON.parse(listed).dependencies.rollcall.dependencies).toBeUndefined();
  });

  it("exports what package.json names; the package itself says which part to take", () => {
    const home = join(shared.installed.folder, "node_modules/rollcall");
    const { exports } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
    for (const { types, default: file } of [
      exports["./client"],
      exports["./lock"],
      exports["./publisher"],
      exports["./webhooks"],
    ]) {
      expect(readFileSync(join(home, types), "utf8")).not.toMatch(/from "(?:zod|@cloudflare|node:)/);
      expect(readFileSync(join(home, file), "utf8")).not.toMatch(/from "(?!\.)/);
    }
    expect(readFileSync(join(home, exports["."]), "utf8")).toContain(
      "rollcall/client, rollcall/lock, rollcall/publisher, rollcall/webhooks",
    );
  });

  it.each([20, 24])("runs on Node %i", async (major) => {
    const node = nodes().get(major);
    if (node === undefined) return console.log(`Skipped: there is no Node ${major} on this machine.`);
    const { code, stdout } = await run({ folder: shared.installed.folder }, ["--version"], { node });
    expect([code, stdout.trim()]).toEqual([0, "0.1.0"]);
    const script = `
      const { createClient } = await import("rollcall/client");
      const { parseLockFile } = await import("rollcall/lock");
      const { createSender } = await import("rollcall/webhooks");
      const who = await createClient({ url: process.argv[1] }).whoami();
      console.log(who.subject, typeof parseLockFile, typeof createSender);`;
    const output = execFileSync(node, ["--input-type=module", "-e", script, shared.registry.url], {
      cwd: shared.installed.folder,
      encoding: "utf8",
    });
    expect(output.trim()).toBe("null function function");
  });

  it("has types that need nothing but a browser's library", () => {
    const source = `
      import { createClient, isRollcallError, type SearchPage } from "rollcall/client";
      import { verifyLock, parseLockFile } from "rollcall/lock";
      import { publishing, publishingFactory } from "rollcall/publisher";
      import { verifyWebhook } from "rollcall/webhooks";
      const client = createClient({ url: "https://registry.test", token: async () => "t" });
      const page: SearchPage = await client.search("rain", { budget: 100 });
      const tokens: number | undefined = page.items[0]?.tokens;
      const named: string | undefined = (await client.definitions("rain", { for: "anthropic" })).resolve("x")?.digest;
      for await (const change of client.changes("acme", { verify: true })) if (change.breaking) break;
      // @ts-expect-error: a task is text.
      client.search(1);
      // @ts-expect-error: there is no such API.
      client.definitions("rain", { for: "gemini" });
      const verdict = await verifyLock(client.connection, parseLockFile("{}"));
      export { tokens, named, verdict, verifyWebhook, isRollcallError };`;
    const folder = join(shared.installed.folder, "consumer");
    mkdirSync(folder);
    writeFileSync(join(folder, "index.ts"), source);
    const options = {
      target: "es2022",
      module: "esnext",
      moduleResolution: "bundler",
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      lib: ["es2022", "dom", "dom.asynciterable", "esnext.disposable"],
      types: [],
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, include: ["index.ts"] }));
    const tsc = join(import.meta.dirname, "../../../node_modules/.bin/tsc");
    let said = "";
    try {
      execFileSync(tsc, ["-p", folder], { encoding: "utf8" });
    } catch (error) {
      said = String((error as { stdout?: string }).stdout);
    }
    expect(said).toBe("");
  });
});

describe("the tutorial", () => {
  it("prints what it says", () => runTutorial(shared.installed, shared.registry));
});

mistakeSuite(shared);

ciSuite(shared);
