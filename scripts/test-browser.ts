import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromiumPath, launch } from "../test/browser/browser.ts";
import { flows } from "../test/browser/flows.ts";
import { clientLibrary, poison } from "../test/browser/hostile.ts";
import { matrix } from "../test/browser/matrix.ts";
import { takePictures } from "../test/browser/pictures.ts";
import { prepare } from "../test/browser/prepare.ts";
import { reviewFlows } from "../test/browser/review-flows.ts";
import { weights } from "../test/browser/weights.ts";
import { CommandError, runCommand } from "./command.ts";
import { loadDemoOnce } from "./demo.ts";
import { startEmbedded } from "./embedded.ts";
import { defaultScope, mintToken } from "./mint-token.ts";

const help = `
Usage: npm run test:browser [-- --pictures]

Looks at the console in Chromium (apt-get install chromium, or CHROMIUM=/path), on an own server with the demo: every page at
three widths in both themes, accessibility, keys alone, JavaScript off, hostile texts, weight. Screenshots are in test/browser/out.
  --pictures   also takes the pictures of the docs anew
`;

await runCommand({ help, options: { pictures: { type: "boolean", default: false } } }, async ({ pictures }) => {
  const executable = chromiumPath();
  if (executable === undefined)
    throw new CommandError(
      "There is no Chromium. Install chromium (apt-get install chromium) or set CHROMIUM to its path.",
    );
  const started = Date.now();
  const data = await mkdtemp(join(tmpdir(), "rollcall-browser-"));
  const server = await startEmbedded({ host: "127.0.0.1", port: 0, data, vars: {}, quiet: true });
  const browser = await launch(executable);
  let failures = 0;
  const check = async (name: string, run: () => Promise<string[]>) => {
    const problems = await run().catch((error: unknown) => [error instanceof Error ? error.message : String(error)]);
    console.log(`${problems.length === 0 ? "✓" : "✗"} ${name}`);
    for (const problem of problems) console.log(`    ${problem.slice(0, 600)}`);
    failures += problems.length === 0 ? 0 : 1;
  };
  try {
    await loadDemoOnce(server);
    const claims = { subject: "developer", tenants: ["demo"], scope: defaultScope, admin: false, lifetime: 3_600 };
    const token = await mintToken(server.data.secret.value, server.vars, claims);
    const admin = await mintToken(server.data.secret.value, server.vars, {
      ...claims,
      subject: "operator",
      admin: true,
    });
    const { url } = server;
    await check("weight of a first visit and of later pages", () => weights(browser, url));
    const prepared = await prepare(url, token);
    const tokens = { token, admin };
    await check("every page, three widths, both themes, axe", () => matrix(browser, url, tokens, prepared.pages));
    if (pictures) await check("pictures of the docs", () => takePictures(browser, url, tokens));
    for (const [name, flow] of Object.entries(flows))
      await check(name, async () => {
        await flow(browser, url, token);
        return [];
      });
    for (const [name, flow] of Object.entries(reviewFlows))
      await check(name, async () => {
        await flow(browser, url, token, prepared);
        return [];
      });
    await check("hostile texts are text", () => poison(browser, url, token));
    await check("the client library in a page of another origin", () => clientLibrary(browser, url));
  } finally {
    await browser.close();
    await server.stop();
    await rm(data, { recursive: true, force: true });
  }
  console.log(`${Math.round((Date.now() - started) / 1_000)} s`);
  if (failures > 0) throw new CommandError(`${failures} of the checks failed.`);
});
