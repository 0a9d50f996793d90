import { randomUUID } from "node:crypto";
import { importSigningKey } from "../../src/webhooks/keys.ts";
import { signWebhook } from "../../src/webhooks/sign.ts";
import { CommandError } from "../command.ts";
import type { Deployment } from "./deployment.ts";

/** What one trial uses, and what it has made so far. */
export interface Trial {
  at: Deployment;
  tenant: string;
  /** A name that nobody else uses. */
  server: string;
  /** The tenant's generation after the last write. */
  generation: number;
  /** True from before the server is published until it is known to be gone: an answer may be lost on its way. */
  mayExist: boolean;
  session?: string | undefined;
}

export interface Step {
  name: string;
  /** Resolves to what was seen, in a few words; throws with what is wrong. */
  run(trial: Trial): Promise<string>;
}

/** A word that stands in no other description, so that a search can find nothing else. */
const wordOf = ({ server }: Trial) => `zyx${server.replaceAll(/[^a-z0-9]/g, "")}`;

const tool = (name: string, description: string) => ({ name, description, inputSchema: { type: "object" } });

const manifestOf = (trial: Trial, ...names: string[]) => ({
  version: "1.0.0",
  tools: names.map((name) => tool(name, `Tries the deployment ${wordOf(trial)}.`)),
});

const capabilitiesOf = ({ tenant, server }: Trial) => `/api/mcp/capabilities/${tenant}/${server}`;
const configOf = ({ tenant, server }: Trial) => `/api/mcp/configs/${tenant}/${server}`;

export const steps: Step[] = [
  {
    name: "publish",
    async run(trial) {
      const request = { method: "PUT", body: manifestOf(trial, "alpha"), headers: { "If-None-Match": "*" } };
      trial.mayExist = true;
      const sent = await trial.at.send(capabilitiesOf(trial), request);
      if (sent.status !== 201) {
        // What was refused was not made; with 412 it is somebody else's.
        trial.mayExist = sent.status >= 500;
        throw trial.at.unexpected(sent, 201, capabilitiesOf(trial), request);
      }
      trial.generation = sent.body.data.generation;
      return `generation ${trial.generation}`;
    },
  },
  {
    name: "read",
    async run(trial) {
      const read = await trial.at.expect(200, capabilitiesOf(trial), { headers: atLeast(trial) });
      requireTools(read.body.data, "alpha");
      const etag = read.headers.get("ETag") ?? "";
      await trial.at.expect(304, capabilitiesOf(trial), { headers: { "If-None-Match": etag } });
      return `200 from ${read.headers.get("Rollcall-Source")}, then 304 by its tag`;
    },
  },
  {
    name: "search",
    async run(trial) {
      const query = new URLSearchParams({ task: wordOf(trial), tenant: trial.tenant });
      const { body } = await trial.at.expect(200, `/api/search?${query}`);
      const [found] = body.data.items;
      if (found?.server !== trial.server) throw new CommandError("The search does not find what was published.");
      return `found ${found.name}, the best of ${body.data.items.length}`;
    },
  },
  {
    name: "hook",
    async run(trial) {
      const { tenant, server } = trial;
      const { body } = await trial.at.expect(201, "/api/hooks", { method: "POST", body: { tenant, server } });
      const path = new URL(body.data.url).pathname;
      const data = { sequence: 1, manifest: manifestOf(trial, "alpha", "beta") };
      const event = JSON.stringify({ type: "manifest.published", data });
      const headers = await signed(body.data.secret, event);
      const forged = { ...headers, "webhook-signature": `v1,${"A".repeat(43)}=` };
      const post = { method: "POST", body: event, anonymous: true };
      await trial.at.expect(401, path, { ...post, headers: forged });
      const told = await trial.at.expect(202, path, { ...post, headers });
      trial.generation = told.body.generation;
      const read = await trial.at.expect(200, capabilitiesOf(trial), { headers: atLeast(trial) });
      requireTools(read.body.data, "alpha", "beta");
      return `forged event refused, signed event ${told.body.outcome}`;
    },
  },
  {
    name: "negotiate",
    async run(trial) {
      const body = { client_name: "smoke", client_version: "1", supported_capabilities: ["notifications"] };
      const opened = await trial.at.expect(200, "/mcp/negotiate", { method: "POST", body });
      trial.session = opened.headers.get("X-MCP-Session-ID") ?? undefined;
      await trial.at.expect(200, "/mcp/session", inSession(trial));
      await closeSession(trial);
      return "session opened, read and closed";
    },
  },
  {
    name: "stream",
    async run(trial) {
      const path = `/api/changes/${trial.tenant}?since=${trial.generation}`;
      const until = AbortSignal.timeout(15_000);
      const stream = await trial.at.open(path, { headers: { Accept: "text/event-stream" } }, until);
      if (stream.status !== 200 || stream.body === null) {
        throw new CommandError(`GET ${path} as a stream answered ${stream.status}, not 200.`);
      }
      try {
        const events = stream.body.pipeThrough(new TextDecoderStream()).getReader();
        let text = (await events.read()).value ?? "";
        const put = { method: "PUT", body: manifestOf(trial, "alpha", "gamma") };
        const { body } = await trial.at.expect(200, capabilitiesOf(trial), put);
        trial.generation = body.data.generation;
        while (!(text.includes('"gamma"') && text.includes(`"server":"${trial.server}"`))) {
          const { value, done } = await events.read();
          if (done) throw new CommandError("The stream ended before the change that was published came.");
          text += value;
        }
        await events.cancel();
      } catch (error) {
        if (!until.aborted) throw error;
        throw new CommandError("The change that was published did not come over the stream within 15 s.");
      }
      return "a change came while the stream was open";
    },
  },
  {
    name: "purge",
    async run(trial) {
      const path = `/api/catalog/${trial.tenant}/${trial.server}`;
      const isOpen = async (headers: Record<string, string> = {}) => {
        const { status } = await trial.at.send(path, { anonymous: true, headers });
        if (![200, 401, 403, 404].includes(status)) throw new CommandError(`GET ${path} answered ${status}.`);
        return status === 200;
      };
      await patch(trial, { visibility: "public" });
      const opened = await seconds(90, async () => await isOpen());
      if (opened === undefined) throw new CommandError(`Nobody could read ${path} within 90 s of making it public.`);
      // Twice more, so that every cache on the way has it.
      for (let count = 0; count < 2; count += 1) await isOpen();
      const { body } = await patch(trial, { visibility: "tenant" });
      if (await isOpen({ "Cache-Control": "no-cache" })) {
        throw new CommandError(`${path} is still public for a reader who asks for no cache.`);
      }
      const allowed = (Date.parse(body.data.effectiveBy) - Date.now()) / 1_000;
      const closed = await seconds(allowed, async () => !(await isOpen()));
      if (closed === undefined) {
        throw new CommandError(`${path} is still public, though effectiveBy was ${body.data.effectiveBy}.`);
      }
      return `public read ended ${closed} s after it was withdrawn, of ${Math.ceil(allowed)} s allowed`;
    },
  },
  {
    name: "delete",
    async run(trial) {
      await remove(trial);
      const read = { headers: { "Cache-Control": "no-cache" } };
      await trial.at.expect(404, capabilitiesOf(trial), read);
      const { body } = await trial.at.expect(200, `/api/hooks?tenant=${trial.tenant}`);
      if (body.data.items.some(({ server }: { server: string }) => server === trial.server)) {
        throw new CommandError("The hook of the deleted server is still there.");
      }
      return "server and hook are gone";
    },
  },
];

/** Removes what a trial has made and has not removed itself. Resolves to what could not be removed. */
export async function cleanUp(trial: Trial): Promise<string[]> {
  const left: string[] = [];
  const at = { ...trial, at: trial.at.resumed() };
  if (trial.session !== undefined) await closeSession(at).catch(() => left.push("a session, which ends by itself"));
  if (trial.mayExist) await removeIfThere(at).catch(() => left.push(`the server ${trial.tenant}/${trial.server}`));
  return left;
}

async function closeSession(trial: Trial): Promise<void> {
  await trial.at.expect(200, "/mcp/session", { method: "DELETE", ...inSession(trial) });
  trial.session = undefined;
}

async function remove(trial: Trial): Promise<void> {
  await trial.at.expect(200, configOf(trial), { method: "DELETE" });
  trial.mayExist = false;
}

async function removeIfThere(trial: Trial): Promise<void> {
  const request = { method: "DELETE" };
  const sent = await trial.at.send(configOf(trial), request);
  if (sent.status !== 200 && sent.status !== 404) throw trial.at.unexpected(sent, 200, configOf(trial), request);
}

const patch = (trial: Trial, body: unknown) => trial.at.expect(200, configOf(trial), { method: "PATCH", body });

const atLeast = ({ generation }: Trial) => ({ "Rollcall-Min-Generation": String(generation) });

const inSession = ({ session = "" }: Trial) => ({ headers: { "X-MCP-Session-ID": session } });

function requireTools(data: { tools?: { name: string }[] }, ...names: string[]): void {
  const read = (data.tools ?? []).map(({ name }) => name);
  if (JSON.stringify(read) === JSON.stringify(names)) return;
  throw new CommandError(`The tools read are [${read.join(", ")}], not [${names.join(", ")}].`);
}

async function signed(secret: string, event: string): Promise<Record<string, string>> {
  const key = await importSigningKey(secret);
  if (!key.ok) throw new CommandError(`The hook's secret is not usable: ${key.error}.`);
  const message = { id: `msg_${randomUUID()}`, body: new TextEncoder().encode(event) };
  const headers = await signWebhook(message, [key.value], Date.now());
  if (!headers.ok) throw new CommandError(`The event cannot be signed: ${headers.error}.`);
  return headers.value;
}

/** Whole seconds until `holds`, asked about twice a second; undefined if it did not within `allowed` seconds. */
async function seconds(allowed: number, holds: () => Promise<boolean>): Promise<number | undefined> {
  const start = Date.now();
  for (;;) {
    const passed = (Date.now() - start) / 1_000;
    if (await holds()) return Math.round(passed);
    if (passed > allowed) return undefined;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
