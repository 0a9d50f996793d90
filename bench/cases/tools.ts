const verbs = ["list", "get", "create", "update", "delete", "search", "export", "compare"];
const things = [
  "invoice",
  "parcel",
  "forecast",
  "ticket",
  "recipe",
  "station",
  "account",
  "photo",
  "timetable",
  "lease",
];
const places = ["in a region", "of a customer", "since a date", "by its number", "within a budget", "for a team"];

/** A tool like those that servers publish; the seed says which. */
export function tool(seed: number, note = ""): Record<string, unknown> {
  const verb = verbs[seed % verbs.length] ?? "";
  const thing = things[Math.floor(seed / verbs.length) % things.length] ?? "";
  const place = places[seed % places.length] ?? "";
  return {
    name: `${verb}_${thing}_${seed}`,
    title: `${verb} ${thing}`,
    description: `Use this to ${verb} each ${thing} ${place}. Answers with its state, its owner and when it last changed.${note}`,
    inputSchema: {
      type: "object",
      properties: {
        [thing]: { type: "string", description: `Which ${thing}, by its number.` },
        limit: { type: "integer", minimum: 1, maximum: 100, description: "How many at most." },
      },
      required: [thing],
    },
    annotations: { readOnlyHint: verb !== "delete", destructiveHint: verb === "delete" },
  };
}

export function manifest(count: number, first = 0): { version: string; tools: Record<string, unknown>[] } {
  return { version: "1.0.0", tools: Array.from({ length: count }, (_, index) => tool(first + index)) };
}

/** Seeds for the tools of a server that no other server has: a name that two have is worth a remark to the registry. */
let seeds = 1_000_000;
export function freshSeeds(count: number): number {
  seeds += count;
  return seeds - count;
}
