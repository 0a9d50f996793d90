import { RequestRefused } from "../command.ts";
import type { EmbeddedServer } from "../embedded.ts";
import { defaultScope, mintToken } from "../mint-token.ts";
import type { CorpusTool } from "./queries.ts";

const tenant = "eval";
const publishedAtOnce = 4;

/** Sends a request and answers what it was answered; a failure ends the command. */
export type Send = (method: string, path: string, body?: object) => Promise<{ data: Record<string, unknown> }>;

export async function connect({ url, vars, data }: EmbeddedServer): Promise<Send> {
  const claims = { subject: "eval", tenants: [tenant], scope: defaultScope, admin: false, lifetime: 3_600 };
  const token = await mintToken(data.secret.value, vars, claims);
  return async (method, path, body) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok)
      throw new RequestRefused(
        response.status,
        `${method} ${path.slice(0, 200)}: ${response.status} ${text.slice(0, 500)}`,
      );
    return JSON.parse(text);
  };
}

/** Publishes every tool, by server; answers which id is where. */
export async function loadCorpus(send: Send, corpus: readonly CorpusTool[]): Promise<Map<string, string>> {
  const servers = new Map<string, CorpusTool[]>();
  for (const tool of corpus) servers.set(tool.server, [...(servers.get(tool.server) ?? []), tool]);
  const ids = new Map<string, string>();
  const left = [...servers].entries();
  let rejected = 0;
  const work = async () => {
    for (const [index, [title, tools]] of left) {
      // Servers may be called anything here, and have a plain name there.
      const name = nameOf(title, index);
      await send("POST", "/api/mcp/configs", { tenant, name, title });
      const items = tools.map(({ id: _, server: __, ...tool }) => tool);
      // Not `rejected += await …`: that reads the sum before it waits, and loses what others added meanwhile.
      const leftOut = await rejectedOf(items.length, () =>
        send("PUT", `/api/mcp/capabilities/${tenant}/${name}?partial=true`, { tools: items }),
      );
      rejected += leftOut;
      for (const tool of tools) ids.set(`${name}/${tool.name}`, tool.id);
    }
  };
  await Promise.all(Array.from({ length: publishedAtOnce }, work));
  console.error(`${corpus.length} tools of ${servers.size} servers published, ${rejected} rejected`);
  return ids;
}

/** How many of the items a publish left out. One that would leave out all is refused as a whole. */
async function rejectedOf(items: number, publish: () => Promise<{ data: Record<string, unknown> }>): Promise<number> {
  try {
    return ((await publish()).data.rejected as unknown[] | undefined)?.length ?? 0;
  } catch (error) {
    if (error instanceof RequestRefused && error.status === 422) return items;
    throw error;
  }
}

function nameOf(title: string, index: number): string {
  const plain = title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "")
    .slice(0, 60);
  return `${plain || "server"}-${index}`;
}

/** What it would cost to read every definition. */
export async function totalTokens(send: Send): Promise<number> {
  let sum = 0;
  for (let cursor = ""; ; ) {
    const { data } = await send("GET", `/api/catalog?facets=false&fields=tokens&limit=100${cursor}`);
    sum += (data.items as { tokens?: number }[]).reduce((total, { tokens = 0 }) => total + tokens, 0);
    if (data.nextCursor === undefined) return sum;
    cursor = `&cursor=${encodeURIComponent(String(data.nextCursor))}`;
  }
}
