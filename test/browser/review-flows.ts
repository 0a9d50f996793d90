import type { Browser } from "playwright-core";
import { clean, expect, tabTo } from "./assert.ts";
import { signIn, watch } from "./browser.ts";
import type { Prepared } from "./prepare.ts";

type Flow = (browser: Browser, url: string, token: string, prepared: Prepared) => Promise<void>;

/** Sign in, open the history, and read a difference, with keys alone. */
const difference: Flow = async (browser, url, token) => {
  const watched = await watch(browser, url);
  const { page, context } = watched;
  await page.goto(`/sign-in?next=/servers/demo/tides#token=${token}`);
  await page.waitForFunction(() => document.querySelector("[data-sign-in-as]")?.textContent !== "");
  await page.keyboard.press("Enter");
  await page.waitForURL(({ pathname }) => pathname === "/servers/demo/tides");
  await tabTo(page, "History");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/history$/);
  await tabTo(page, "Compare");
  // Picked at first are the two newest: one further down is the one before, of both.
  await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("ArrowDown");
  await tabTo(page, "Compare", "Shift+Tab");
  await page.keyboard.press("Enter");
  await page.waitForURL(({ pathname }) => pathname.endsWith("/diff"));
  const words = await page.locator("ins").allTextContents();
  expect(words.join().includes("high or low"), `the marked words are ${words}`);
  clean(watched);
  await context.close();
};

/** A hook's secret is on the page once, and a reload sends nothing again. */
const secret: Flow = async (browser, url, token) => {
  const watched = await watch(browser, url);
  const { page, context } = watched;
  await signIn(watched, token);
  await page.goto("/manage/demo/hooks");
  const before = await page.locator(".ledger > li").count();
  await page.fill("#server", "tides");
  // Twice at once, as a hasty hand does.
  await page.locator("button:has-text('Make the hook')").dblclick({ noWaitAfter: true });
  await page.waitForSelector("[data-secret]");
  const shown = await page.textContent("[data-secret]");
  expect(shown?.startsWith("whsec_") ?? false, `the secret is ${shown}`);
  await page.reload();
  expect((await page.locator("[data-secret]").count()) === 0, "the secret is still there after a reload");
  expect(!(await page.content()).includes(shown ?? "whsec_"), "the secret is somewhere in the page after a reload");
  expect(!(await context.cookies()).some(({ name }) => name.endsWith("-notice")), "the notice is still in a cookie");
  await page.goto("/manage/demo/hooks");
  expect((await page.locator(".ledger > li").count()) === before + 1, "a double click made two hooks");
  clean(watched);
  await context.close();
};

/** Restoring shows what it would do, does it, and readers see it. */
const restoring: Flow = async (browser, url, token, { digests }) => {
  const watched = await watch(browser, url);
  const { page, context } = watched;
  await signIn(watched, token);
  await page.goto("/servers/demo/tides/tools");
  expect((await page.locator("h3", { hasText: "old_tides" }).count()) === 0, "old_tides is there already");
  await page.goto(`/servers/demo/tides/restore?digest=${digests[0]}`);
  expect((await page.locator("#plan").count()) === 1, "no dry run");
  await page.click("button:has-text('Restore this revision')");
  await page.waitForURL(/\/history$/);
  expect((await page.textContent("[role=status]"))?.includes("is current again") ?? false, "the page does not say so");
  await page.goto("/servers/demo/tides/tools");
  expect(
    (await page.locator("h3", { hasText: "old_tides" }).count()) === 1,
    "the reader's page shows the earlier content",
  );
  clean(watched);
  await context.close();
};

/** Settings are changed, and the switch of an item, with JavaScript off. */
const managing: Flow = async (browser, url, token, { pages }) => {
  const watched = await watch(browser, url, { javaScriptEnabled: false });
  const { page, context } = watched;
  await page.goto("/sign-in?next=/manage/demo/servers/tides");
  await page.fill("#token", token);
  await page.click("button.primary");
  await page.check("input[name=visibility][value=public]");
  await page.click("button:has-text('Save')");
  expect((await page.textContent("[role=status]"))?.includes("Saved: visibility") ?? false, "nothing was saved");
  await page.click("button:has-text('Switch off') >> nth=0");
  expect((await page.textContent("[role=status]"))?.includes("is switched off") ?? false, "nothing was switched");
  await page.click("button:has-text('Switch on') >> nth=0");
  for (const path of pages) {
    await page.goto(path);
    expect((await page.locator("h1").count()) === 1, `${path} has no heading`);
    expect((await page.locator(".js-only:visible").count()) === 0, `${path} offers what needs JavaScript`);
  }
  clean(watched);
  await context.close();
};

export const reviewFlows: Record<string, Flow> = {
  "keys alone: sign in, history, difference": difference,
  "a hook's secret is gone after a reload": secret,
  "restoring changes what readers see": restoring,
  "managing without JavaScript": managing,
};
