import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import type { Browser } from "playwright-core";
import { signIn, type Watched, watch } from "./browser.ts";
import { adminPages, memberPages, publicPages } from "./pages.ts";

export const output = join(import.meta.dirname, "out");
const widths = [1600, 768, 360];
const rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/**
 * Every page at three widths and in both themes: nothing scrolls sideways, nothing is reported. Axe looks at the widest
 * in one theme and at the narrowest in the other, so that the colours of both are checked.
 */
export async function matrix(
  browser: Browser,
  url: string,
  { token, admin }: { token: string; admin: string },
  more: readonly string[],
): Promise<string[]> {
  await mkdir(output, { recursive: true });
  const everybody = async () => {
    const visitor = await watch(browser, url);
    const problems = await look(visitor, "visitor", publicPages);
    await visitor.context.close();
    return problems;
  };
  const signedIn = async (who: string, as: string, paths: readonly string[]) => {
    const member = await watch(browser, url);
    await signIn(member, as);
    const problems = await look(member, who, paths);
    await member.context.close();
    return problems;
  };
  const members = async () => [
    ...(await signedIn("member", token, [...memberPages, ...more])),
    ...(await signedIn("admin", admin, adminPages)),
  ];
  return (await Promise.all([everybody(), members()])).flat();
}

async function look({ page, found }: Watched, who: string, paths: readonly string[]): Promise<string[]> {
  const problems: string[] = [];
  for (const path of paths) {
    for (const theme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: theme });
      for (const width of widths) {
        await page.setViewportSize({ width, height: width < 500 ? 800 : 1000 });
        if (width === widths[0] && theme === "light") {
          const answer = await page.goto(path);
          if (answer === null || answer.status() >= 500) problems.push(`${who} ${path}: ${answer?.status()}`);
          await page.evaluate(() => document.fonts.ready.then(() => undefined));
        }
        const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (wider > 0) problems.push(`${who} ${path}: ${wider} px sideways at ${width}, ${theme}`);
        const isLookedAt = theme === "light" ? width === 1600 : width === 360;
        if (isLookedAt) problems.push(...(await violations(page, `${who} ${path} at ${width}, ${theme}`)));
        const name = path.replaceAll(/[^a-z0-9]+/gi, "-").replaceAll(/^-|-$/g, "") || "home";
        await page.screenshot({ path: join(output, `${who}-${name.slice(0, 60)}-${width}-${theme}.png`) });
      }
    }
    problems.push(...found.splice(0).map((one) => `${who} ${path}: ${one}`));
  }
  return problems;
}

async function violations(page: Watched["page"], where: string): Promise<string[]> {
  const { violations: found } = await new AxeBuilder({ page }).withTags(rules).analyze();
  return found.map(({ id, nodes }) => `${where}: axe ${id} at ${nodes[0]?.target.join(" ")} (${nodes.length})`);
}
