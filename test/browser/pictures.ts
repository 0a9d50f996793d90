import { stat } from "node:fs/promises";
import type { Browser } from "playwright-core";
import { projectPath } from "../../scripts/project.ts";
import { watch } from "./browser.ts";

const pictures = {
  "console-server": "/servers/demo/weather/tools",
  "console-search": "/search?task=send+the+forecast+to+my+team%2C+then+file+an+issue&budget=300",
};

const maxBytes = 200_000;

/** The pictures that the README shows. */
export async function takePictures(browser: Browser, url: string): Promise<string[]> {
  const { page, context } = await watch(browser, url, { viewport: { width: 1200, height: 760 } });
  const problems: string[] = [];
  for (const [name, path] of Object.entries(pictures)) {
    await page.goto(path);
    await page.evaluate(() => document.fonts.ready.then(() => undefined));
    const file = projectPath("docs", "pictures", `${name}.png`);
    await page.screenshot({ path: file });
    const { size } = await stat(file);
    if (size > maxBytes) problems.push(`${name}.png has ${size} bytes`);
  }
  await context.close();
  return problems;
}
