import { spawnSync } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { runCli, startCli, stopAll } from "../support/process.ts";
import { type ShellBlock, shellBlocks, withAnswers } from "./blocks.ts";
import { compare } from "./compare.ts";
import { notRun } from "./not-run.ts";
import { readingOrder } from "./pages.ts";
import { type Ran, runPage } from "./run-page.ts";

/**
 * Runs every `sh` block of the docs, page by page, against the demo. `npm run docs -- --update` writes what was printed
 * into the answer blocks that differ.
 */
const root = join(import.meta.dirname, "../../..");
const update = process.env["ROLLCALL_DOCS_UPDATE"] === "true";
const only = process.env["ROLLCALL_DOCS_PAGE"];

const texts = new Map(await Promise.all(readingOrder(root).map(async (page) => [page, await text(page)] as const)));
const blocks = new Map([...texts].map(([page, content]) => [page, shellBlocks(page, content)]));

let folder: string;
let url: string;
let env: Record<string, string>;
let demo: string[];
let admin: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "rollcall-docs-"));
  await likeAClone(folder);
  const data = join(folder, ".rollcall");
  const server = startCli("serve.ts", "--port", "0", "--data", data, "--var", "ALLOW_LOOPBACK_FETCH=true");
  [, url = ""] = await server.line(/ready (\S+)/);
  const token = async (...args: string[]) => (await runCli("token.ts", "--data", data, ...args)).stdout.trim();
  admin = await token("--admin", "--tenant", "demo", "--sub", "docs");
  env = { ROLLCALL_URL: url, ROLLCALL_TOKEN: await token("--tenant", "demo", "--sub", "you") };
  demo = await servers();
});

afterAll(async () => {
  await stopAll();
  await rm(folder, { recursive: true, force: true });
});

/** What a page published is not there for the next one: each can be read on its own. */
afterEach(async () => {
  for (const server of await servers()) {
    if (!demo.includes(server)) await send("DELETE", `/api/mcp/configs/${server}`);
  }
});

/**
 * A folder in which commands find all they find in a clone. node_modules is a folder of links: a command that empties it
 * takes away the links alone.
 */
async function likeAClone(target: string): Promise<void> {
  const own = [".git", ".rollcall", ".wrangler", ".dev.vars", "dist", "node_modules", "package.json"];
  await mkdir(join(target, "node_modules"));
  for (const name of await readdir(join(root, "node_modules"))) {
    await symlink(join(root, "node_modules", name), join(target, "node_modules", name));
  }
  for (const name of await readdir(root)) {
    if (!own.includes(name)) await symlink(join(root, name), join(target, name));
  }
  await copyFile(join(root, "package.json"), join(target, "package.json"));
}

function text(page: string): Promise<string> {
  return readFile(join(root, page), "utf8");
}

async function send(method: string, path: string) {
  const response = await fetch(`${url}${path}`, { method, headers: { Authorization: `Bearer ${admin}` } });
  // biome-ignore lint/suspicious/noExplicitAny: a list of servers
  return (await response.json()) as any;
}

async function servers(): Promise<string[]> {
  const { data } = await send("GET", "/api/mcp/configs?limit=100");
  return data.items.map(({ tenant, name }: { tenant: string; name: string }) => `${tenant}/${name}`);
}

it("blocks that are not run are those with a reason", () => {
  const marked = [...blocks.values()].flat().filter(({ isRun }) => !isRun);
  const listed = notRun.map(({ page, begins }) => `${page}: ${begins}`);
  expect(marked.map(({ page, command }) => `${page}: ${command.split("\n")[0]}`).sort()).toEqual(listed.sort());
});

const installing = /\bnpm (?:ci|i|install|pack|publish|link|uninstall)\b|\brm -rf\b/;

it("no block that is run installs or removes what the project is made of", () => {
  const found = [...blocks.values()].flat().filter(({ command, isRun }) => isRun && installing.test(command));
  expect(found.map(({ page, line }) => `${page}:${line}`)).toEqual([]);
});

it("every command asks the registry that the two variables name", () => {
  const others = [...blocks.values()].flat().filter(({ command, isRun }) => isRun && /127\.0\.0\.1:8787/.test(command));
  expect(others.map(({ page, line }) => `${page}:${line}`)).toEqual([]);
});

const isSafe = (block: ShellBlock) => block.isRun && !installing.test(block.command);
const pages = [...blocks].map(([page, all]) => [page, all.filter(isSafe)] as const);

describe.each(pages.filter(([page, all]) => all.length > 0 && (only === undefined || page === only)))(
  "%s",
  (page, all) => {
    it(`${all.length} blocks`, async ({ skip }) => {
      const missing = missingTools(all);
      if (missing.length > 0) skip(`${page} needs ${missing.join(", ")}, which is not installed here`);
      const ran = await runPage(all, folder, env);
      const complaints: string[] = [];
      const answers: { from: number; to: number; text: string }[] = [];
      for (const [index, block] of all.entries()) {
        const complaint = judge(block, ran[index], answers);
        if (complaint !== undefined) complaints.push(`${page}:${block.line} ${complaint}`);
      }
      if (update && answers.length > 0) await writeFile(join(root, page), withAnswers(texts.get(page) ?? "", answers));
      expect(complaints.join("\n\n")).toBe("");
    });
  },
);

/** Commands that a machine with npm need not have. */
function missingTools(all: ShellBlock[]): string[] {
  const used = ["curl", "openssl", "python3"].filter((tool) => all.some(({ command }) => command.includes(`${tool} `)));
  return used.filter((tool) => spawnSync(tool, ["--version"]).error !== undefined);
}

/** An answer of the registry that refuses what was asked. */
const refusal = /"success":\s*false|"error":\s*[{"]|^HTTP\/\S+ [45]\d\d/m;

function judge(
  { command, shown }: ShellBlock,
  ran: Ran | undefined,
  answers: { from: number; to: number; text: string }[],
): string | undefined {
  if (ran === undefined) return "did not run: a block before it failed";
  const { exitCode, stdout, stderr } = ran;
  if (exitCode !== 0) return `exit code ${exitCode}\n${command}\n${stdout}\n${stderr}`;
  if (shown === undefined)
    return refusal.test(stdout) ? `was refused, and the page does not say so\n${stdout}` : undefined;
  const { isSame, text } = compare(shown.language, shown.text, stdout);
  if (isSame) return undefined;
  answers.push({ from: shown.from, to: shown.to, text });
  if (update && !(refusal.test(stdout) && !refusal.test(shown.text))) return undefined;
  return `shows\n${shown.text}\n\nand should show\n${text}`;
}
