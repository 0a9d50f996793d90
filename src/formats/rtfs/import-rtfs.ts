import { isObject, withoutUndefined } from "../../kernel/json.ts";
import { CapabilityId } from "../../kernel/names.ts";
import { runAtOnce, type Steps } from "../../kernel/pace/pace.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import type { CapabilityKind } from "../../manifest/schema/capability.ts";
import type { Imported } from "../imported.ts";
import { noCapability, type RtfsCapability, type RtfsFault, readRtfsSteps, toolName } from "./capability.ts";
import { quoted } from "./form.ts";
import { isItemName, validName } from "./item-name.ts";
import { mcpDefaults } from "./migrate.ts";

type Kind = Extract<CapabilityKind, "tool" | "operation">;

const unitsPerItem = 20;

interface RtfsOptions {
  /** URL of the document, for capabilities that do not say where they come from. */
  sourceUrl?: string | undefined;
}

/** RTFS text → manifest. API operations become operations; MCP and all other capabilities become tools. */
export function importRtfs(text: string, options: RtfsOptions = {}): Result<Imported, RtfsFault> {
  return runAtOnce(rtfsSteps(text, options));
}

/** The import in steps. */
export function* rtfsSteps(text: string, options: RtfsOptions = {}): Steps<Result<Imported, RtfsFault>> {
  const read = yield* readRtfsSteps(text);
  if (!read.ok) return read;
  const { capabilities } = read.value;
  if (capabilities.length === 0) return err({ message: noCapability, line: 1, column: 1 });

  const warnings = read.value.warnings.map(({ line, column, message }) => `line ${line}, column ${column}: ${message}`);
  const sections: Record<Kind, Map<string, Record<string, unknown>>> = { tool: new Map(), operation: new Map() };
  const ids = new Set<string>();
  for (const capability of capabilities) {
    const warn = (message: string) => warnings.push(`${quoted(capability.id)}: ${message}`);
    if (ids.has(capability.id)) {
      warn("the id is given twice: the later capability is left out");
      continue;
    }
    ids.add(capability.id);
    const kind = kindOf(capability);
    const name = uniqueName(capability, sections[kind], warn);
    if (name !== undefined) sections[kind].set(name, toItem(capability, name, options, warn));
    yield unitsPerItem;
  }
  const [tools, operations] = [Array.from(sections.tool.values()), Array.from(sections.operation.values())];
  return ok({
    manifest: withoutUndefined({
      tools: tools.length > 0 ? tools : undefined,
      operations: operations.length > 0 ? operations : undefined,
    }),
    counts: withoutUndefined({ tool: tools.length || undefined, operation: operations.length || undefined }),
    warnings,
  });
}

function metadataPart({ metadata }: RtfsCapability, name: string): Record<string, unknown> | undefined {
  const fields = metadata?.[name];
  return isObject(fields) ? fields : undefined;
}

/** Discovery methods that mark an operation. In the flat layout they may be the only sign of one. */
const operationMethods: readonly unknown[] = ["api_introspection", "graphql_introspection"];

function kindOf(capability: RtfsCapability): Kind {
  if (metadataPart(capability, "mcp") !== undefined) return "tool";
  const isOperation =
    metadataPart(capability, "openapi") !== undefined ||
    metadataPart(capability, "graphql") !== undefined ||
    operationMethods.includes(metadataPart(capability, "discovery")?.method);
  return isOperation ? "operation" : "tool";
}

/** The capability's name as an item; if there is no valid one, the tool name in its id, sanitized. */
function nameOf(capability: RtfsCapability, warn: (message: string) => void): string {
  const name = validName(capability);
  if (name !== undefined) return name;
  const sanitizedName =
    toolName(capability.id)
      .replace(/[^A-Za-z0-9_.\-/]+/g, "_")
      .slice(0, 128) || "unnamed";
  warn(`no valid name, renamed to ${sanitizedName}`);
  return sanitizedName;
}

/** Two servers in one file may have tools of the same name; the second tool is named by its id. */
function uniqueName(
  capability: RtfsCapability,
  taken: ReadonlyMap<string, unknown>,
  warn: (message: string) => void,
): string | undefined {
  const name = nameOf(capability, warn);
  if (!taken.has(name)) return name;
  if (isItemName(capability.id) && !taken.has(capability.id)) {
    warn(`the name ${name} is taken: goes by its id`);
    return capability.id;
  }
  warn(`the name ${name} is taken, and the id is no name: left out`);
  return undefined;
}

/** Default permissions and effects of capabilities that are called over the network. */
const permissions = ["network.http"];
const effects = { tool: ["network_request", "mcp_call"], operation: ["network_request"] };

/** Provenance of capabilities that do not name a method. A declared method names another introspector and is kept. */
const discovery = { method: "rtfs_import", introspector_version: "1.0.0" };

function toItem(
  capability: RtfsCapability,
  name: string,
  { sourceUrl }: RtfsOptions,
  warn: (message: string) => void,
): Record<string, unknown> {
  const { id, name: declared, metadata = {}, ...fields } = capability;
  const kind = kindOf(capability);
  const [mcp, found] = [metadataPart(capability, "mcp"), metadataPart(capability, "discovery") ?? {}];
  const isRemote = kind === "operation" || mcp !== undefined;
  const validId = CapabilityId.safeParse(id).success;
  if (!validId) warn("invalid id, kept as metadata.rtfs.id");
  // The tool name in the id is what a capability is called that has no name of its own; as a title it adds nothing.
  const isTitle = declared !== name && declared !== toolName(id) && fields.title === undefined;
  const rtfs = metadataPart(capability, "rtfs") ?? {};
  const said = withoutUndefined({
    ...rtfs,
    id: validId ? rtfs.id : id,
    name: declared === name || isTitle ? rtfs.name : declared,
  });
  return withoutUndefined({
    permissions: isRemote ? [...permissions] : undefined,
    effects: isRemote ? [...effects[kind]] : undefined,
    title: isTitle ? declared : undefined,
    ...fields,
    id: validId ? id : undefined,
    name,
    metadata: withoutUndefined({
      ...metadata,
      mcp: mcp === undefined ? metadata.mcp : { ...mcp, ...missing(mcpDefaults, mcp) },
      rtfs: Object.keys(said).length > 0 ? said : metadata.rtfs,
      discovery: withoutUndefined({
        ...(found.method === undefined ? discovery : {}),
        source_url: sourceUrl,
        ...found,
      }),
    }),
  });
}

function missing(defaults: Record<string, unknown>, fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(defaults).filter(([name]) => fields[name] === undefined));
}
