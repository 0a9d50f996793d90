import { existsSync } from "node:fs";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";

/** The Chromium that is installed: nothing is downloaded. */
export function chromiumPath(): string | undefined {
  const names = ["chromium", "chromium-browser", "google-chrome"].map((name) => `/usr/bin/${name}`);
  const paths = process.env["CHROMIUM"] === undefined ? names : [process.env["CHROMIUM"]];
  return paths.find((path) => existsSync(path));
}

export function launch(executablePath: string): Promise<Browser> {
  // In a container the sandbox has no namespaces to use.
  return chromium.launch({ executablePath, args: ["--no-sandbox"] });
}

/** What happened in a context that should not have. */
export interface Watched {
  context: BrowserContext;
  page: Page;
  /** Errors in the console, requests of other origins, violations of the policy, dialogs. */
  found: string[];
  /** Bytes of answers since the last reset, as transferred. */
  transferred: { url: string; bytes: number }[];
}

/** A context in which everything that must not happen is noted down. */
export async function watch(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1600, height: 1000 }, baseURL: url, ...options });
  const found: string[] = [];
  const transferred: Watched["transferred"] = [];
  context.on("request", (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin) found.push(`request of ${request.url()}`);
  });
  context.on("requestfinished", (request) => {
    void request.sizes().then(
      ({ responseBodySize, responseHeadersSize }) =>
        transferred.push({ url: request.url(), bytes: responseBodySize + responseHeadersSize }),
      () => {},
    );
  });
  if (options.javaScriptEnabled !== false)
    await context.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) =>
        console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`),
      );
    });
  const page = await context.newPage();
  page.on("console", (message) => {
    // A page that tells of a failure has the status of the failure, which Chromium reports.
    const isStatus = /^Failed to load resource: the server responded with a status of 4\d\d/.test(message.text());
    if (message.type() === "error" && !isStatus) found.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => found.push(`script: ${error.message}`));
  page.on("dialog", (dialog) => {
    found.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { context, page, found, transferred };
}

/** Signs in as the link that `npm start` prints does. */
export async function signIn({ page }: Watched, token: string): Promise<void> {
  await page.goto(`/sign-in#token=${token}`);
  await page.click("form[data-sign-in] button");
  await page.waitForURL((url) => url.pathname === "/");
}
