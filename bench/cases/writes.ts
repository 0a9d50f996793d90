import { Webhook } from "standardwebhooks";
import { startSource } from "../../scripts/drills/mcp-source.ts";
import { prepare } from "../harness/target.ts";
import type { Case } from "./case.ts";
import { tenant } from "./servers.ts";
import { freshSeeds, manifest, tool } from "./tools.ts";

const path = (name: string) => `/api/mcp/capabilities/${tenant}/${name}`;
const json = { "Content-Type": "application/json" };
/** Writes to one tenant come after each other; a few at once show the queue without being about it. */
const connections = 4;
/** Looks at one server's sources are limited, so the case goes round. */
const sourced = 60;
/** Different every time, whatever was published before. */
let written = 0;

export const writes: Case[] = [
  {
    name: "publish",
    status: 201,
    connections,
    writes: true,
    async prepare(target) {
      const headers = { ...(await target.callerOf([tenant])), ...json };
      const run = Date.now().toString(36);
      const next = () => {
        const body = JSON.stringify(manifest(12, freshSeeds(12)));
        return { method: "PUT", path: path(`new-${run}-${++written}`), headers, body };
      };
      return { next };
    },
  },
  {
    name: "publish one changed of 1,000",
    status: 200,
    connections,
    writes: true,
    async prepare(target) {
      const headers = { ...(await target.callerOf([tenant])), ...json };
      const first = freshSeeds(1_000);
      const { tools, ...rest } = manifest(1_000, first);
      await prepare(target, "PUT", path("thousand-changing"), headers, { ...rest, tools });
      // All but the changed one is text already: what is measured is the registry.
      const others = JSON.stringify({ ...rest, tools: tools.slice(1) }).slice(0, -2);
      const next = () => {
        const body = `${others},${JSON.stringify(tool(first, ` Change ${Date.now()} ${++written}.`))}]}`;
        return { method: "PUT", path: path("thousand-changing"), headers, body };
      };
      return { next };
    },
  },
  {
    name: "publish unchanged",
    status: 200,
    connections,
    writes: true,
    async prepare(target) {
      const headers = { ...(await target.callerOf([tenant])), ...json };
      const body = manifest(1_000, freshSeeds(1_000));
      await prepare(target, "PUT", path("thousand-same"), headers, body);
      const exchange = { method: "PUT", path: path("thousand-same"), headers, body: JSON.stringify(body) };
      return { next: () => exchange };
    },
  },
  {
    name: "webhook",
    status: 202,
    connections,
    writes: true,
    async prepare(target) {
      const caller = await target.callerOf([tenant]);
      const { version, tools } = manifest(12, freshSeeds(12));
      await prepare(target, "PUT", path("hooked"), caller, { version, tools });
      const { data } = await prepare<{ url: string; secret: string }>(target, "POST", "/api/hooks", caller, {
        tenant,
        server: "hooked",
      });
      const signer = new Webhook(data.secret);
      const { pathname } = new URL(data.url);
      const next = () => {
        const at = new Date();
        const id = `msg_${at.getTime()}_${++written}`;
        const changed = { version: `${version}-${written}`, tools };
        const event = {
          type: "manifest.published",
          data: { sequence: at.getTime() * 1_000 + written, manifest: changed },
        };
        const body = JSON.stringify(event);
        const signed = {
          "webhook-id": id,
          "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
          "webhook-signature": signer.sign(id, at, body),
        };
        return { method: "POST", path: pathname, headers: { ...json, ...signed }, body };
      };
      return { next };
    },
  },
  {
    name: "introspection",
    status: 200,
    connections,
    writes: true,
    async prepare(target) {
      const caller = await target.callerOf([tenant]);
      const source = await startSource(manifest(12, freshSeeds(12)).tools);
      const run = Date.now().toString(36);
      const names = Array.from({ length: sourced }, (_, index) => `sourced-${run}-${index}`);
      for (const name of names) {
        const sources = [{ id: "main", type: "streamable-http", url: source.url }];
        await prepare(target, "POST", "/api/mcp/configs", caller, { tenant, name, sources });
      }
      let asked = 0;
      const next = () => ({ method: "POST", path: `${path(names[asked++ % sourced] ?? "")}/refresh`, headers: caller });
      return { next, stop: source.stop };
    },
  },
];
