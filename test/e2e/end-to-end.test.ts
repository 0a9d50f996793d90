import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, it } from "vitest";
import { tenantKey } from "../../src/kernel/names.ts";
import { genesisOf, verifyChain } from "../../src/registry/change-chain.ts";
import { importSigningKey } from "../../src/webhooks/keys.ts";
import { signWebhook } from "../../src/webhooks/sign.ts";
import { stopAll } from "./support/process.ts";
import { type RegistryProcess, startRegistry } from "./support/registry-process.ts";
import { startUpstream, tool, type Upstream } from "./support/upstream.ts";

let registry: RegistryProcess;
let upstream: Upstream;
let receiver: Server;
/** What the subscriber was sent, as it arrives. */
const received: { headers: Record<string, string>; body: string }[] = [];
let onReceived: () => void = () => {};

beforeAll(async () => {
  upstream = await startUpstream(tool("a"));
  receiver = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      received.push({ headers: request.headers as Record<string, string>, body });
      response.writeHead(204).end();
      onReceived();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  registry = await startRegistry("t", { ALLOW_LOOPBACK_FETCH: "true" });
});

afterAll(async () => {
  await upstream?.stop();
  receiver?.closeAllConnections();
  receiver?.close();
  await registry?.remove();
  await stopAll();
});

/** The next thing that the subscriber is sent and that fits. */
function next(fits: (body: string) => boolean): Promise<(typeof received)[number]> {
  return new Promise((resolve) => {
    onReceived = () => {
      const found = received.find(({ body }) => fits(body));
      if (found !== undefined) resolve(found);
    };
    onReceived();
  });
}

/** Entries of the tenant's log as they are streamed. */
async function* entries(response: Response) {
  let text = "";
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const data = /^data: (.*)$/m.exec(text.slice(0, end))?.[1];
      text = text.slice(end + 2);
      if (data !== undefined) yield JSON.parse(data);
    }
  }
}

it("a change upstream reaches a subscriber, a stream and a reader", async () => {
  const sources = [{ id: "main", type: "streamable-http", url: upstream.url }];
  await registry.send("POST", "/api/mcp/configs", { tenant: "t", name: "s", sources });
  await registry.send("GET", "/api/mcp/capabilities/t/s");
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/changes`;
  const subscription = (await registry.send("POST", "/api/subscriptions", { tenant: "t", url })).body.data;
  const hook = (await registry.send("POST", "/api/hooks", { tenant: "t", server: "s" })).body.data;
  const headers = { Authorization: `Bearer ${registry.token}`, Accept: "text/event-stream" };
  const stream = await fetch(`${registry.url}/api/changes/t`, { headers });
  expect(stream.status).toBe(200);

  upstream.tools = [tool("a"), tool("fresh")];
  const event = JSON.stringify({ type: "manifest.changed", data: { sequence: 1 } });
  const key = await importSigningKey(hook.secret);
  if (!key.ok) throw new Error(key.error);
  const signed = await signWebhook({ id: "msg_1", body: new TextEncoder().encode(event) }, [key.value], Date.now());
  if (!signed.ok) throw new Error(signed.error);
  const told = await registry.send("POST", new URL(hook.url).pathname, event, { ...signed.value });
  expect([told.status, told.body.outcome]).toEqual([202, "applied"]);

  const read = await registry.send("GET", "/api/mcp/capabilities/t/s");
  expect(read.body.data.tools.map(({ name }: { name: string }) => name)).toEqual(["a", "fresh"]);

  const seen = [];
  for await (const entry of entries(stream)) {
    seen.push(entry);
    if (entry.name === "fresh") break;
  }
  expect(seen.at(-1)).toMatchObject({ server: "s", kind: "tool", classification: "additive" });
  expect(verifyChain(seen, genesisOf(tenantKey("t"))).ok).toBe(true);

  const sent = await next((body) => body.includes('"fresh"'));
  const message = new Webhook(subscription.secret).verify(sent.body, sent.headers) as { data: { changes: unknown[] } };
  expect(message.data.changes).toContainEqual(expect.objectContaining({ name: "fresh", to: seen.at(-1).to }));
});
