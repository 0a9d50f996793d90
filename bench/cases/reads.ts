import { catalogFields } from "../../src/catalog/contract.ts";
import type { Exchange } from "../harness/exchange.ts";
import { receive } from "../harness/load.ts";
import type { Case } from "./case.ts";
import { readServer, tenant } from "./servers.ts";
import { tasks } from "./tasks.ts";

const capabilities = `/api/mcp/capabilities/${tenant}/${readServer}`;

/** What a page may show of a server besides its name. */
const optionalFields = catalogFields.filter((field) => field !== "tenant" && field !== "name");

/** The same question over and over. */
const again = (exchange: Exchange) => ({ next: () => exchange });
const get = (path: string, headers: Record<string, string> = {}): Exchange => ({ method: "GET", path, headers });

export const hotRead: Case = {
  name: "hot authenticated read",
  status: 200,
  hot: true,
  prepare: async (target) => again(get(capabilities, await target.callerOf([tenant]))),
};

export const reads: Case[] = [
  hotRead,
  {
    name: "304",
    status: 304,
    hot: true,
    async prepare(target) {
      const caller = await target.callerOf([tenant]);
      const { headers } = await receive(target.url, get(capabilities, caller));
      return again(get(capabilities, { ...caller, "If-None-Match": headers["etag"] ?? "" }));
    },
  },
  {
    name: "public read",
    status: 200,
    hot: true,
    // Somebody who holds another tenant.
    prepare: async (target) => again(get(capabilities, await target.callerOf(["elsewhere"]))),
  },
  {
    name: "view",
    status: 200,
    hot: true,
    prepare: async (target) => again(get(`${capabilities}/tools`, await target.callerOf([tenant]))),
  },
  {
    name: "catalogue page",
    status: 200,
    hot: true,
    prepare: async () => again(get("/api/catalog?limit=30")),
  },
  {
    name: "catalogue page, not in memory",
    status: 200,
    async prepare() {
      // Each asks for other fields, so that no two want the same page.
      let asked = 0;
      const next = () => {
        asked += 1;
        const chosen = optionalFields.filter((_, bit) => (asked >> bit) & 1);
        return get(`/api/catalog?limit=30&fields=${["name", ...chosen].join(",")}`);
      };
      return { next };
    },
  },
  // The same thirty servers as a page: at most three times what its JSON costs.
  {
    name: "catalogue as a page",
    status: 200,
    hot: true,
    prepare: async () => again(get("/servers", { Accept: "text/html" })),
  },
  {
    name: "catalogue as a page, not in memory",
    status: 200,
    async prepare() {
      // Each asks from another moment on, which finds the same servers and is another page.
      let asked = 0;
      const next = () => {
        asked += 1;
        const since = new Date(1_000 * asked).toISOString();
        return get(`/servers?updated_since=${encodeURIComponent(since)}`, { Accept: "text/html" });
      };
      return { next };
    },
  },
  {
    name: "capability",
    status: 200,
    hot: true,
    async prepare(target) {
      const { body } = await receive(target.url, get(capabilities, await target.callerOf([tenant])));
      const { tools } = (JSON.parse(String(body)) as { data: { tools: { registry: { id: string } }[] } }).data;
      return again(get(`/api/capabilities/${tenant}/${encodeURIComponent(tools[0]?.registry.id ?? "")}`));
    },
  },
  { name: "registry list", status: 200, hot: true, prepare: async () => again(get("/v0.1/servers?limit=30")) },
  {
    name: "registry get",
    status: 200,
    hot: true,
    prepare: async () => again(get(`/v0.1/servers/${tenant}%2F${readServer}/versions/latest`)),
  },
  {
    name: "registry search",
    status: 200,
    hot: true,
    prepare: async () => again(get(`/v0.1/servers?search=${readServer}&limit=5`)),
  },
  {
    name: "search",
    status: 200,
    async prepare() {
      const questions = tasks.map((task) => get(`/api/search?limit=5&q=${encodeURIComponent(task)}`));
      return inTurn(questions);
    },
  },
  {
    name: "budgeted index",
    status: 200,
    async prepare() {
      const headers = { "Content-Type": "application/json" };
      const path = `/api/index/${tenant}/budget`;
      return inTurn(
        tasks.map((task) => ({ method: "POST", path, headers, body: JSON.stringify({ task, budget: 800 }) })),
      );
    },
  },
];

/** One question after another, and from the start again. */
export function inTurn(exchanges: readonly Exchange[]) {
  let asked = 0;
  return {
    next: () => {
      const exchange = exchanges[asked++ % exchanges.length];
      if (exchange === undefined) throw new Error("There is nothing to ask");
      return exchange;
    },
  };
}
