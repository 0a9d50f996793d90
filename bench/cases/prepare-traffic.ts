import { CommandError } from "../../scripts/command.ts";
import type { CatalogueServer } from "../corpus/catalogue.ts";
import { publishAll } from "../corpus/load.ts";
import type { Tool } from "../corpus/server.ts";
import type { Target } from "../harness/target.ts";
import {
  mixTraffic,
  type TrafficExchange,
  type TrafficServer,
  tenantsOfCallers,
  toolsOf,
  trafficName,
  trafficServers,
} from "./traffic.ts";

/** Publishes the servers and makes the callers' tokens; `next` of the result is the traffic. */
export async function prepareTraffic(target: Target): Promise<{ next: () => TrafficExchange }> {
  const servers = trafficServers.map(catalogueServer);
  const accepted = await publishAll(target, servers);
  const tools = servers.reduce((sum, server) => sum + server.tools.length, 0);
  if (accepted !== tools) throw new CommandError(`${trafficName}: ${accepted} of its ${tools} tools were accepted.`);
  const callers = await Promise.all(
    tenantsOfCallers().map(async (tenants, index) => ({
      tenants,
      headers: await target.callerOf(tenants, { subject: `caller-${index}` }),
    })),
  );
  return { next: mixTraffic(callers) };
}

function catalogueServer(server: TrafficServer): CatalogueServer {
  const { tenant, name } = server;
  return { tenant, name, title: `Traffic ${name}`, tools: toolsOf(server) as unknown as Tool[] };
}
