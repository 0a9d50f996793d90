import type { Page } from "playwright-core";
import type { Watched } from "./browser.ts";

export function expect(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}

/** Nothing happened that must not. */
export function clean({ found }: Watched): void {
  expect(found.length === 0, found.join("; "));
}

/** Presses Tab until the focused element has this text. */
export async function tabTo(page: Page, text: string, key: "Tab" | "Shift+Tab" = "Tab"): Promise<void> {
  for (let presses = 0; presses < 80; presses += 1) {
    await page.keyboard.press(key);
    if ((await page.evaluate(() => document.activeElement?.textContent?.trim())) === text) return;
  }
  throw new Error(`No element "${text}" can be reached with ${key} on ${page.url()}`);
}
