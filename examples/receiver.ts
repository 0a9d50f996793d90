import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { runCommand } from "../scripts/command.ts";
import { parsePort } from "../scripts/port.ts";

const help = `
Usage: npx node examples/receiver.ts [--port P] [--secret whsec_…]

Receives webhooks on this machine (127.0.0.1 only), verifies their signatures and prints a line for each change. Subscribe
with its address on a registry that runs with --var ALLOW_LOOPBACK_FETCH=true; docs/how-to/subscriptions.md shows how.
  --port P     port to listen on; 0 for any free one (default 8790)
  --secret S   the subscription's secret, or in ROLLCALL_WEBHOOK_SECRET; without one, nothing is verified
`;

/** Seconds that a message may be old: a recorded one must not be good for ever. */
const tolerance = 300;

/** Why a message is not the registry's; undefined if it is. Standard Webhooks: HMAC-SHA256 over id, time and body. */
function refusalOf({ headers }: IncomingMessage, body: string, secret: string): string | undefined {
  const [id, time, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => headers[name]);
  if (typeof id !== "string" || typeof time !== "string" || typeof signatures !== "string") return "no signature";
  if (!(Math.abs(Date.now() / 1000 - Number(time)) <= tolerance)) return "too old, or from the future";
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const expected = createHmac("sha256", key).update(`${id}.${time}.${body}`).digest();
  const isOurs = signatures.split(" ").some((signature) => {
    const given = Buffer.from(signature.replace(/^v1,/, ""), "base64");
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  return isOurs ? undefined : "wrong signature";
}

interface Message {
  type: string;
  data?: { changes?: { classification: string; kind: string; name: string; server: string }[] };
}

const options = {
  port: { type: "string", default: "8790" },
  secret: { type: "string", default: process.env["ROLLCALL_WEBHOOK_SECRET"] ?? "" },
} as const;

await runCommand({ help, options }, async ({ port, secret }) => {
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const refusal = secret === "" ? undefined : refusalOf(request, body, secret);
    // Answer first: the registry tries again if it waits too long.
    response.writeHead(refusal === undefined ? 204 : 401).end();
    if (refusal !== undefined) return console.log(`refused: ${refusal}`);
    const { type, data } = JSON.parse(body) as Message;
    console.log(`${type}${secret === "" ? " (not verified)" : ""}`);
    for (const { classification, kind, name, server: of } of data?.changes ?? []) {
      console.log(`  ${classification}: ${kind} ${name} of ${of}`);
    }
  });
  server.listen(parsePort(port), "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const own = typeof address === "object" ? address?.port : port;
  console.log(`Receiving at http://127.0.0.1:${own}/; Ctrl-C stops it`);
  await once(server, "close");
});
