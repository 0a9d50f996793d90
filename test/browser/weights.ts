import { gzipSync } from "node:zlib";
import type { Browser } from "playwright-core";
import { watch } from "./browser.ts";

const kB = (bytes: number) => `${(bytes / 1_000).toFixed(1)} kB`;

/** Bytes, with HTML as a network in front of the registry compresses it. */
const budgets = { first: 120_000, later: 25_000 };

/** What a first visit and later pages transfer. The files come compressed; pages are compressed by what is in front. */
export async function weights(browser: Browser, url: string): Promise<string[]> {
  const { page, context, transferred } = await watch(browser, url);
  const html = async (path: string) => {
    const answer = await page.goto(path);
    await page.waitForLoadState("networkidle");
    return gzipSync(await (answer?.body() ?? Promise.resolve(Buffer.alloc(0)))).length;
  };
  const isFile = (address: string) => address.includes("/console/static/");
  const home = await html("/");
  await page.waitForTimeout(300);
  const files = transferred.filter(({ url: address }) => isFile(address));
  const first = home + files.reduce((sum, { bytes }) => sum + bytes, 0);
  const kinds = ["css", "js", "woff2", "svg"].map((ending) => {
    const sum = files.filter(({ url: address }) => address.endsWith(ending)).reduce((all, { bytes }) => all + bytes, 0);
    return `${ending} ${kB(sum)}`;
  });
  const later: [string, number][] = [];
  for (const path of [
    "/servers",
    "/servers/demo/weather/tools",
    "/capabilities/demo/mcp.weather.get_forecast",
    "/search?task=will+it+rain",
  ])
    later.push([path, await html(path)]);
  await context.close();
  console.log(`  first visit ${kB(first)}: html ${kB(home)}, ${kinds.join(", ")}`);
  console.log(`  later pages ${later.map(([path, bytes]) => `${path} ${kB(bytes)}`).join(", ")}`);
  const problems = first > budgets.first ? [`a first visit transfers ${kB(first)}`] : [];
  return [
    ...problems,
    ...later.filter(([, bytes]) => bytes > budgets.later).map(([path, bytes]) => `${path} has ${kB(bytes)}`),
  ];
}
