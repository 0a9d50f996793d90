import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright-core";
import { rolldown } from "rolldown";
import { projectPath } from "../../scripts/project.ts";
import { fixture, readJson } from "../support/locate.ts";
import { signIn, watch } from "./browser.ts";

/** Texts that would do something if they were anything but text. */
const markup = [
  "<script>alert(1)</script>",
  '"><img src=x onerror=alert(1)>',
  "<svg/onload=alert(1)>",
  "javascript:alert(1)",
  "</textarea></title></style><script>alert(1)</script>",
  "{{constructor.constructor('alert(1)')()}}",
  "<a href=https://evil.example/x>click</a>",
  "[click](https://evil.example)",
  "<!--<script>--><iframe src=//evil.example>",
];

interface Case {
  id: string;
  expect: string;
  tool: unknown;
}

/** Publishes every text that a publisher may send, in every place, and looks at every page that shows it. */
export async function poison(browser: Browser, url: string, token: string): Promise<string[]> {
  const problems: string[] = [];
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const send = async (method: string, path: string, body: unknown) =>
    fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) });
  const location = fixture("security/poison-cases.json");
  const cases = location === undefined ? [] : (readJson(location) as Case[]);
  const taken = new Set<string>();
  const flagged = cases.flatMap(({ expect, tool, id }) => {
    if (expect !== "flag" || typeof tool !== "object" || tool === null || !("name" in tool)) return [];
    // Some rules look at the name, so it stays where it can.
    const name = taken.has(String(tool.name)) ? `p-${id}`.slice(0, 100) : String(tool.name);
    taken.add(name);
    return [{ ...tool, name }];
  });
  const own = markup.map((text, at) => ({
    name: `markup-${at}`,
    title: text,
    description: text,
    category: text,
    inputSchema: {
      type: "object",
      properties: { [text]: { type: "string", description: text, default: text, enum: [text] } },
    },
    annotations: { title: text },
  }));
  await send("POST", "/api/mcp/configs", {
    tenant: "demo",
    name: "poison",
    visibility: "public",
    title: markup[1],
    description: markup[0],
  });
  const published = await send("PUT", "/api/mcp/capabilities/demo/poison?partial=true", {
    version: "1.0.0",
    websiteUrl: "javascript:alert(1)",
    repository: { url: 'https://evil.example/"onmouseover=alert(1)' },
    remotes: [{ type: "streamable-http", url: "https://evil.example/<script>" }],
    tools: [...own, ...flagged],
  });
  if (!published.ok) return [`publishing the texts answers ${published.status} ${await published.text()}`];
  // Real names are long, and in every script.
  const long = `${"a-very-long-name.".repeat(6)}end`;
  await send("POST", "/api/mcp/configs", { tenant: "demo", name: long, visibility: "public", title: "服务器 עברית" });
  await send("PUT", `/api/mcp/capabilities/demo/${long}`, {
    tools: [
      { name: `${"unbroken_".repeat(10)}tool`, description: `markup ${"x".repeat(400)} הסבר בעברית` },
      {
        name: "no_description",
        inputSchema: { type: "object", properties: { ["p".repeat(200)]: { type: "string" } } },
      },
    ],
  });
  const watched = await watch(browser, url);
  const { page, context, found } = watched;
  await signIn(watched, token);
  const paths = [
    `/servers/demo/${long}`,
    `/servers/demo/${long}/tools`,
    `/servers/demo/${long}/connect`,
    `/capabilities/demo/mcp.${long}.no_description`,
    "/servers/demo/poison/history",
    "/manage/demo",
    "/manage/demo/servers/poison",
    "/manage/demo/flags",
    "/servers",
    "/servers/demo/poison",
    "/servers/demo/poison/tools",
    "/servers/demo/poison/tools?from=40",
    "/servers/demo/poison/connect",
    ...own.map(({ name }) => `/capabilities/demo/mcp.poison.${name}`),
    `/search?task=${encodeURIComponent("markup script alert")}`,
    `/search?task=${encodeURIComponent(markup[1] ?? "")}`,
    `/servers?tenant=${encodeURIComponent("demo")}&category=${encodeURIComponent(markup[0] ?? "")}`,
    `/nothing/${encodeURIComponent(markup[0] ?? "")}`,
  ];
  for (const path of paths) {
    await page.goto(path);
    await page.mouse.move(400, 400);
    const strange = await page.evaluate(
      () =>
        document.querySelectorAll(
          "main script, main iframe, main img, main svg[onload], main [onerror], main a[href^='javascript']",
        ).length,
    );
    if (strange > 0) problems.push(`${path}: a publisher's text became an element`);
    await page.setViewportSize({ width: 360, height: 800 });
    const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (wider > 0) problems.push(`${path}: ${wider} px sideways at 360`);
    await page.setViewportSize({ width: 1600, height: 1000 });
    problems.push(...found.splice(0).map((one) => `${path}: ${one}`));
  }
  for (const { name } of flagged) {
    await page.goto(`/capabilities/demo/mcp.poison.${encodeURIComponent(name)}`);
    if ((await page.locator(".flags li").count()) === 0) problems.push(`${name} is shown without its flag`);
  }
  problems.push(...found.splice(0));
  await context.close();
  if (cases.length === 0)
    console.log("  (without the public poison cases: no security/poison-cases.json in ROLLCALL_FIXTURES)");
  return problems;
}

/** The client library in a page of another origin. */
export async function clientLibrary(browser: Browser, url: string): Promise<string[]> {
  const bundle = await rolldown({
    cwd: projectPath("."),
    input: projectPath("packages/rollcall/src/client/index.ts"),
    platform: "neutral",
    resolve: { mainFields: ["module", "main"] },
  });
  const { output } = await bundle.generate({ format: "esm" });
  await bundle.close();
  const html = `<!doctype html><title>x</title><script type="module">
    import { connect, search } from "/client.js";
    const found = await search(connect({ url: ${JSON.stringify(url)} }), "will it rain tomorrow");
    document.title = found.items[0].name;
  </script>`;
  const server = createServer((request, response) => {
    const isScript = request.url === "/client.js";
    response
      .setHeader("Content-Type", isScript ? "text/javascript" : "text/html")
      .end(isScript ? output[0].code : html);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const page = await browser.newPage();
  try {
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await page.waitForFunction(() => document.title !== "x");
    const title = await page.title();
    return title === "get_observation" ? [] : [`the client library found ${title}`];
  } finally {
    await page.close();
    server.close();
  }
}
