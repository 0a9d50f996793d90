/** A parameter on which the two sides cannot meet. */
export interface ParameterConflict {
  parameter: string;
  client: unknown;
  server: unknown;
  message: string;
}

export interface SettledParameters {
  parameters: Record<string, unknown>;
  conflicts: ParameterConflict[];
  /** Named by the client and unknown here. */
  ignored: string[];
}

/**
 * What both sides can live with: the smaller number, the common part of two lists, true only where both say true, text
 * only where it is the same. Where the client says nothing, or what cannot be met, the server's word stands.
 */
export function settleParameters(client: Record<string, unknown>, server: Record<string, unknown>): SettledParameters {
  const parameters: Record<string, unknown> = {};
  const conflicts: ParameterConflict[] = [];
  for (const [parameter, offered] of Object.entries(server)) {
    if (!Object.hasOwn(client, parameter)) {
      parameters[parameter] = offered;
      continue;
    }
    const wanted = client[parameter];
    const met = meet(wanted, offered);
    parameters[parameter] = "value" in met ? met.value : offered;
    if ("conflict" in met) conflicts.push({ parameter, client: wanted, server: offered, message: met.conflict });
  }
  const ignored = Object.keys(client).filter((parameter) => !Object.hasOwn(server, parameter));
  return { parameters, conflicts, ignored };
}

function meet(client: unknown, server: unknown): { value: unknown } | { conflict: string } {
  if (typeof client === "number" && typeof server === "number") return { value: Math.min(client, server) };
  if (typeof client === "boolean" && typeof server === "boolean") return { value: client && server };
  if (Array.isArray(client) && Array.isArray(server)) {
    const common = server.filter((item) => client.includes(item));
    return common.length > 0 ? { value: common } : { conflict: "the two lists have nothing in common" };
  }
  if (kindOf(client) !== kindOf(server)) return { conflict: `is ${kindOf(client)} here and ${kindOf(server)} there` };
  return client === server ? { value: server } : { conflict: "the two values differ" };
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
