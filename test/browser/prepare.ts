/** What the pages that review and manage need beside the demo: a server with a history, a hook, a subscription. */

export interface Prepared {
  /** Digests of the revisions of demo/tides, the oldest first. */
  digests: string[];
  /** Pages of members that exist only now. */
  pages: string[];
}

const manifests = [
  {
    version: "1.0.0",
    tools: [
      { name: "next_tide", description: "The next tide at a port.", inputSchema: schema("port") },
      { name: "old_tides", description: "Tides of the past." },
    ],
  },
  {
    version: "1.1.0",
    tools: [
      { name: "next_tide", description: "The next high or low tide at a port.", inputSchema: schema("port") },
      { name: "old_tides", description: "Tides of the past." },
    ],
  },
  {
    version: "2.0.0",
    tools: [
      { name: "next_tide", description: "The next high or low tide at a port.", inputSchema: schema("port", "day") },
      { name: "moon", description: "The phase of the moon on a day, and how it moves the tides." },
    ],
  },
];

function schema(...required: string[]) {
  return {
    type: "object",
    properties: { port: { type: "string" }, day: { type: "string", format: "date" } },
    required,
  };
}

export async function prepare(url: string, token: string): Promise<Prepared> {
  const send = async (method: string, path: string, body: unknown) => {
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    const answer = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${method} ${path} answers ${answer.status} ${await answer.text()}`);
    return ((await answer.json()) as { data: { digest: string; id: string } }).data;
  };
  const digests: string[] = [];
  for (const manifest of manifests)
    digests.push((await send("PUT", "/api/mcp/capabilities/demo/tides", manifest)).digest);
  await send("POST", "/api/mcp/configs", {
    ...{ tenant: "demo", name: "upstream", title: "Read from elsewhere" },
    sources: [{ id: "main", type: "streamable-http", url: "https://127.0.0.1:9/mcp" }],
  });
  const hook = await send("POST", "/api/hooks", { tenant: "demo", server: "tides", description: "From CI." });
  const subscription = await send("POST", "/api/subscriptions", { tenant: "demo", url: "https://ci.example.com/in" });
  const [first = "", second = "", third = ""] = digests;
  const pages = [
    "/servers/demo/tides/history",
    `/servers/demo/tides/diff?from=${first}&to=${third}`,
    `/servers/demo/tides/diff?from=${second}&to=${second}`,
    `/servers/demo/tides/diff?from=sha256-${"0".repeat(64)}`,
    `/servers/demo/tides/restore?digest=${first}`,
    "/manage/demo",
    "/manage/demo/servers/tides",
    "/manage/demo/servers/upstream",
    "/manage/demo/flags",
    "/manage/demo/hooks",
    `/manage/demo/hooks/${hook.id}`,
    "/manage/demo/subscriptions",
    `/manage/demo/subscriptions/${subscription.id}`,
    "/manage/elsewhere",
  ];
  return { digests, pages };
}
