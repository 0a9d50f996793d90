import { createDerivation } from "./derive.ts";
import { seeded } from "./random.ts";
import type { RealServer, Tool } from "./server.ts";

/** A server of the catalogue, with its place in the registry. */
export interface CatalogueServer {
  tenant: string;
  name: string;
  title: string;
  tools: Tool[];
}

/** A tenant has one server or dozens: from a person to a company. They take turns. */
const serversOfTenants = [1, 2, 3, 5, 8, 13, 21, 34, 55, 89];

const seed = 20_261_116;

/**
 * The first servers of an endless catalogue that have so many capabilities together: the real ones, then derived ones. A
 * smaller catalogue is the beginning of a larger one.
 */
export function* catalogueOf(real: readonly RealServer[], capabilities: number): Generator<CatalogueServer> {
  const derive = createDerivation(real);
  const random = seeded(seed);
  const places = placesInOrder();
  let left = capabilities;
  for (let index = 0; left > 0; index += 1) {
    const { identifier, title, tools } = real[index] ?? derive(random);
    // What a server says twice counts once: the registry takes the first and says so.
    const distinct = [...new Map(tools.toReversed().map((tool) => [tool.name, tool])).values()].reverse();
    left -= distinct.length;
    const { value: tenant } = places.next();
    yield { tenant, name: `${plainName(identifier)}-${index}`, title, tools: distinct };
  }
}

function* placesInOrder(): Generator<string, never> {
  for (let number = 0; ; number += 1) {
    const servers = serversOfTenants[number % serversOfTenants.length] ?? 1;
    for (let at = 0; at < servers; at += 1) yield `tenant-${number}`;
  }
}

function plainName(identifier: string): string {
  const plain = identifier
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "")
    .slice(-50)
    .replace(/^-/, "");
  return plain || "server";
}
