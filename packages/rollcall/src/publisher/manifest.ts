/** From the lists of an MCP server to a manifest: the same for the command, which reads servers, and for the kit inside them. */

export type Json = Record<string, unknown>;

export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const lists = [
  { section: "tools", method: "tools/list", capability: "tools", key: "name" },
  { section: "prompts", method: "prompts/list", capability: "prompts", key: "name" },
  { section: "resources", method: "resources/list", capability: "resources", key: "uri" },
  { section: "resourceTemplates", method: "resources/templates/list", capability: "resources", key: "uriTemplate" },
] as const;

export type List = (typeof lists)[number];

export const mostPages = 1_000;
export const mostItems = 10_000;

/** Items by their key. Some servers list in the order of a hash map, and each reading would otherwise be a change. */
export class Items {
  readonly #items = new Map<string, Json>();
  readonly #list: List;

  constructor(list: List) {
    this.#list = list;
  }

  get size(): number {
    return this.#items.size;
  }

  /** Why an item was left out; undefined if it was taken. */
  add(item: unknown): string | undefined {
    const { section, key } = this.#list;
    const name = isObject(item) ? item[key] : undefined;
    if (!isObject(item) || typeof name !== "string") return `${section}: an item without ${key} was left out`;
    if (this.#items.has(name)) return `${section}: ${name} is listed twice; the first is kept`;
    this.#items.set(name, withLineFeeds(item, 64) as Json);
    return undefined;
  }

  sorted(): Json[] {
    return [...this.#items].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item);
  }
}

/** What a server says of itself. */
export interface Introduction {
  capabilities: Json;
  serverInfo?: Json;
  instructions?: string;
}

/** The introduction in an answer to `initialize` or `server/discover`. */
export function introductionIn(result: Json): Introduction {
  const meta = isObject(result._meta) ? result._meta : {};
  const info = meta["io.modelcontextprotocol/serverInfo"] ?? result.serverInfo;
  return {
    capabilities: isObject(result.capabilities) ? result.capabilities : {},
    serverInfo: isObject(info) ? info : undefined,
    instructions: typeof result.instructions === "string" ? result.instructions : undefined,
  };
}

/** The members of a manifest that are no items. */
export function headerOf({ serverInfo, instructions }: Introduction, others: Json = {}): Json {
  const { title, version, description } = serverInfo ?? {};
  const members = { title, version, description, serverInfo, ...others, instructions };
  return Object.fromEntries(
    Object.entries(withLineFeeds(members, 64) as Json).filter(([, value]) => value !== undefined),
  );
}

/** Descriptions written on Windows: the registry refuses carriage returns, as nobody sees them. */
function withLineFeeds(value: unknown, levels: number, name = ""): unknown {
  if (typeof value === "string")
    return name === "description" || name === "instructions" ? value.replaceAll("\r\n", "\n") : value;
  if (typeof value !== "object" || value === null || levels === 0) return value;
  if (Array.isArray(value)) return value.map((item) => withLineFeeds(item, levels - 1));
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, withLineFeeds(field, levels - 1, key)]));
}
