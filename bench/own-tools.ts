import { runCommand } from "../scripts/command.ts";
import { loadDemoOnce } from "../scripts/demo.ts";
import { startEmbedded } from "../scripts/embedded.ts";
import { defaultScope, mintToken } from "../scripts/mint-token.ts";
import { toolUsage } from "../src/mcp/tools/usage.ts";
import { readCount } from "./corpus/sizes.ts";
import { percentilesOf } from "./harness/statistics.ts";
import { benchVars } from "./harness/target.ts";
import { scratchDirectory } from "./scratch.ts";

const help = `
Usage: npm run bench:tools [-- --calls N]

Calls the registry's own tools with the examples of capabilities://tools, one after the other, on a registry of its own
with the demo catalogue, and prints the median and the 95th percentile in milliseconds. The figures stand in
src/mcp/tools/usage.ts.
  --calls N   calls of each example (default 300)
`;

const warmUp = 30;

await runCommand({ help, options: { calls: { type: "string", default: "300" } } }, async ({ calls }) => {
  const count = readCount("--calls", calls);
  const data = await scratchDirectory("own-tools");
  const server = await startEmbedded({ host: "127.0.0.1", port: 0, data: data.path, vars: benchVars, quiet: true });
  try {
    await loadDemoOnce(server);
    const claims = { subject: "bench", tenants: ["demo"], scope: defaultScope, admin: false, lifetime: 3_600 };
    const token = await mintToken(server.data.secret.value, server.vars, claims);
    for (const [name, { examples }] of Object.entries(toolUsage)) {
      const taken: number[] = [];
      for (const { input } of examples) taken.push(...(await timesOf(server.url, token, name, input, count)));
      const { p50, p95 } = percentilesOf(taken);
      console.log(`${name.padEnd(22)} ${p50}-${p95}`);
    }
  } finally {
    await server.stop();
    await data.remove();
  }
});

async function timesOf(url: string, token: string, name: string, input: object, count: number): Promise<number[]> {
  const taken: number[] = [];
  for (let call = 0; call < warmUp + count; call += 1) {
    const started = performance.now();
    const text = await callTool(url, token, name, input);
    if (call >= warmUp) taken.push(performance.now() - started);
    if (text.includes('"isError":true') || text.includes('"error":{'))
      throw new Error(`${name}: ${text.slice(0, 300)}`);
  }
  return taken;
}

async function callTool(url: string, token: string, name: string, input: object): Promise<string> {
  const revision = "2026-07-28";
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
  };
  const response = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${token}`,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": revision,
      "Mcp-Method": "tools/call",
      "Mcp-Name": name,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: input, _meta } }),
  });
  return response.text();
}
