import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Browser } from "playwright-core";
import { clean, expect, tabTo } from "./assert.ts";
import { signIn, watch } from "./browser.ts";
import { memberPages, publicPages } from "./pages.ts";

type Flow = (browser: Browser, url: string, token: string) => Promise<void>;

/** Find, open and copy a snippet, with keys alone. */
const keysAlone: Flow = async (browser, url) => {
  const watched = await watch(browser, url, { permissions: ["clipboard-read", "clipboard-write"] });
  const { page, context } = watched;
  await page.goto("/");
  await page.keyboard.press("/");
  await page.keyboard.type("forecast for a place");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/search\?/);
  await page.keyboard.press("j");
  await page.keyboard.press("o");
  await page.waitForURL(/\/capabilities\/demo\/mcp\.weather\.get_forecast/);
  await tabTo(page, "weather");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/servers\/demo\/weather$/);
  await page.keyboard.press("]");
  await page.waitForURL(/\/tools$/);
  await page.keyboard.press("]");
  await page.waitForURL(/\/connect$/);
  await page.keyboard.press("c");
  await page.waitForFunction(() => document.querySelector(".live")?.textContent === "Copied");
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied.includes("https://weather.example.com/mcp"), `copied ${copied}`);
  await page.keyboard.press("?");
  expect(await page.locator("#keys").isVisible(), "? does not show the keys");
  clean(watched);
  await context.close();
};

/** The token is in the address for a moment, and never sent as part of it. */
const signingIn: Flow = async (browser, url, token) => {
  const watched = await watch(browser, url);
  const { page, context } = watched;
  const sent: string[] = [];
  page.on("request", (request) => sent.push(request.url()));
  await page.goto(`/sign-in?next=/servers/demo/shop#token=${token}`);
  await page.waitForFunction(() => document.querySelector("[data-sign-in-as]")?.textContent !== "");
  expect(!page.url().includes(token), "the token is still in the address");
  const question = await page.textContent("[data-sign-in-as]");
  expect(question?.includes("Sign in as") ?? false, `asked ${question}`);
  await page.keyboard.press("Enter");
  // By its path: the address of the sign-in page ends with the same words.
  await page.waitForURL(({ pathname }) => pathname === "/servers/demo/shop");
  expect(!sent.some((address) => address.includes(token)), "the token was part of an address");
  const [cookie] = await context.cookies();
  expect(cookie?.httpOnly === true && cookie.sameSite === "Strict", "the cookie is open to scripts or other sites");
  expect(!(cookie?.value ?? "").includes(token.split(".")[1] ?? "x"), "the cookie has the token in it");
  await page.click("text=Sign out");
  await page.waitForURL(`${url}/`);
  expect((await context.cookies()).length === 0, "signing out leaves the cookie");
  await page.goto("/servers/demo/shop");
  expect((await page.textContent("h1")) === "Nothing public is here", "a private page is shown after signing out");
  clean(watched);
  await context.close();
};

/** Results as one types, and the slider as the API would choose. */
const budget: Flow = async (browser, url) => {
  const watched = await watch(browser, url);
  const { page, context } = watched;
  await page.goto("/search");
  await page.fill("#task", "send the forecast to my team, then file an issue");
  await page.waitForSelector("#results li[data-tokens]");
  expect(page.url().includes("task="), "the address does not follow what is typed");
  for (const tokens of [60, 200, 450]) {
    await page.locator("input[type=range]").evaluate((slider: HTMLInputElement, value) => {
      slider.value = String(value);
      slider.dispatchEvent(new Event("input", { bubbles: true }));
    }, tokens);
    const marked = await page
      .locator("li.in")
      .evaluateAll((rows) => rows.map((row) => (row as HTMLElement).dataset["name"]));
    const query = new URLSearchParams({ task: await page.inputValue("#task"), budget: String(tokens), limit: "100" });
    const { data } = (await (await fetch(`${url}/api/search?${query}`)).json()) as {
      data: { items: { name: string }[] };
    };
    const chosen = data.items.map(({ name }) => name);
    expect(marked.sort().join() === chosen.sort().join(), `at ${tokens}: marked ${marked}, the API chose ${chosen}`);
    expect(new URL(page.url()).searchParams.get("budget") === String(tokens), "the address does not follow the slider");
  }
  clean(watched);
  await context.close();
};

/** Everything that must work without JavaScript, with JavaScript off. */
const withoutScript: Flow = async (browser, url, token) => {
  const watched = await watch(browser, url, { javaScriptEnabled: false });
  const { page, context } = watched;
  for (const path of publicPages) {
    const answer = await page.goto(path);
    expect((answer?.status() ?? 500) < 500, `${path}: ${answer?.status()}`);
    expect((await page.locator("h1").count()) === 1, `${path} has no heading`);
    expect((await page.locator(".js-only:visible").count()) === 0, `${path} offers what needs JavaScript`);
  }
  await page.goto("/");
  await page.fill("#task", "will it rain tomorrow");
  await page.fill("#budget", "100");
  await page.click("button:has-text('Search')");
  expect((await page.locator("li.in").count()) > 0, "the search finds nothing without JavaScript");
  await page.selectOption("#definitions", "openai");
  await page.click("button:has-text('Definitions')");
  expect((await page.textContent("#definitions-title"))?.includes("OpenAI") ?? false, "no definitions");
  await page.goto("/negotiate");
  await page.click("button.primary");
  expect((await page.locator("#chosen-title").count()) === 1, "negotiating answers nothing");
  await page.goto("/sign-in?next=/me");
  await page.fill("#token", token);
  await page.click("button.primary");
  for (const path of memberPages) {
    await page.goto(path);
    expect((await page.locator("h1").count()) === 1, `${path} has no heading`);
  }
  clean(watched);
  await context.close();
};

/** The page shows what changes for a session that was negotiated, as it happens. */
const following: Flow = async (browser, url, token) => {
  const watched = await watch(browser, url);
  const { page, context } = watched;
  await signIn(watched, token);
  await page.goto("/negotiate");
  await page.click("button.primary");
  await page.waitForFunction(() =>
    document.querySelector("[data-session-state]")?.textContent?.startsWith("Following"),
  );
  const path = `${url}/api/mcp/capabilities/demo/weather`;
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const { data } = (await (await fetch(path, { headers })).json()) as {
    data: { tools: { name: string; description: string }[] };
  };
  const tools = data.tools.map((tool) => ({ ...tool, description: `${tool.description} Reworded.` }));
  const written = await fetch(path, { method: "PUT", headers, body: JSON.stringify({ version: "1.4.1", tools }) });
  expect(written.ok, `publishing answers ${written.status}`);
  await page.waitForSelector("[data-session] li");
  clean(watched);
  await context.close();
};

/** Publishes from another process, as somebody else would. */
async function publishElsewhere(url: string, token: string, server: string, tool: string): Promise<void> {
  const code = `
    const [path, token, body] = process.argv.slice(1);
    const headers = { Authorization: "Bearer " + token, "Content-Type": "application/json" };
    const answer = await fetch(path, { method: "PUT", headers, body });
    if (!answer.ok) throw new Error(await answer.text());`;
  const body = JSON.stringify({ tools: [{ name: tool, description: "Published while somebody looks." }] });
  const path = `${url}/api/mcp/capabilities/demo/${server}`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code, "--", path, token, body], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [status] = await once(child, "exit");
  expect(status === 0, `publishing in another process ends with ${status}`);
}

/** What another process publishes is on the page within two seconds; filters, pause and a lost connection. */
const feed: Flow = async (browser, url, token) => {
  const watched = await watch(browser, url);
  const { page, context } = watched;
  const saying = (words: string) =>
    page.waitForFunction(
      (wanted) => document.querySelector("[data-follow-state]")?.textContent?.startsWith(wanted),
      words,
    );
  await signIn(watched, token);
  await page.click("header nav >> text=Changes");
  await page.waitForURL(/\/changes\/demo$/);
  await saying("Following");
  await publishElsewhere(url, token, "feed-one", "first_tool");
  await page.waitForSelector("#feed li.new >> text=first_tool", { timeout: 2_000 });
  await page.click("[data-follow-pause]");
  await publishElsewhere(url, token, "feed-one", "second_tool");
  await saying("Paused: 2 new entries");
  expect((await page.locator("#feed >> text=second_tool").count()) === 0, "a paused page goes on");
  await page.click("[data-follow-pause]");
  await page.waitForSelector("#feed >> text=second_tool");
  await page.check("input[value=removed]");
  await page.waitForFunction(() => document.querySelectorAll("#feed .chip:not(.removed)").length === 0);
  expect(page.url().includes("class=removed"), "the address does not follow the filter");
  // A stream that cannot be had is said, and asked for again.
  await page.route("**/console/api/changes/**", (route) => route.abort());
  await page.reload();
  await saying("The connection was lost");
  watched.found.splice(0);
  await page.unroute("**/console/api/changes/**");
  await saying("Following");
  clean(watched);
  await context.close();
};

export const flows: Record<string, Flow> = {
  "keys alone: find, open, copy": keysAlone,
  "signing in by link": signingIn,
  "results as typed, the slider as the API chooses": budget,
  "without JavaScript": withoutScript,
  "changes of a session as they happen": following,
  "changes of a tenant as another process publishes": feed,
};
