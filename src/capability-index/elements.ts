import { isObject } from "../kernel/json.ts";
import { clip } from "../kernel/text.ts";
import { snakeCase } from "../manifest/intake/places.ts";
import type { CapabilityKind } from "../manifest/schema/capability.ts";
import { text } from "../registry/views/fields.ts";
import { declaredVerbs } from "./action-triggers.ts";
import { flow, flowList, keyLine, scalar, valueText } from "./print-yaml.ts";

/** An element of a capability index: a current, enabled capability. */
export interface IndexElement {
  server: string;
  kind: CapabilityKind;
  key: string;
  id: string;
  declared: Record<string, unknown>;
}

/** Printed first, in this order; other fields follow in declared order. */
const leading = ["title", "description", "version", "provider", "mimeType", "inputSchema"];

/** Fields that are printed elsewhere in the element or do not help to choose or call it. */
const omittedFields = new Set(
  (
    "id icons _meta implementation metadata category permissions effects annotations semantic relationships " +
    "semantic_data actionTriggers action_triggers"
  ).split(" "),
);

/** Text for whoever runs an element, which a model does not need to choose it. The full index has it. */
const omittedInBudget: ReadonlySet<string> = new Set(["promptResponse", "prompt_response", "examples"]);

/** Name of an element in the index; prefixed with the server in a tenant's index. */
export function labelOf({ server, key }: Pick<IndexElement, "server" | "key">, amongServers: boolean): string {
  return amongServers ? `${server}/${key}` : key;
}

/** The lines of one element in a full index. `known` is what the registry knows of it, in one line. */
export function elementBlock(element: IndexElement, amongServers: boolean, known: string): string {
  const { declared, id, server } = element;
  const lines = new Lines("      ");
  lines.add("id", scalar(id));
  if (amongServers) lines.add("server", scalar(server));
  const triggers = triggersOf(declared);
  if (triggers.length > 0) lines.add("triggers", flowList(triggers));
  if (declared.relationships !== undefined) lines.add("relationships", flow(declared.relationships));
  const semantic = semanticOf(declared);
  if (semantic !== undefined) lines.add("semantic", flow(semantic));
  addDetails(lines, element, nothingMore);
  return `${keyLine("    ", labelOf(element, amongServers))}\n      # registry: ${known}\n${lines.text}`;
}

/**
 * An element at a level of detail in an index for a budget; undefined if the level adds no line. `notice` is what to mind
 * about it; its cost is in the answer beside the text.
 */
export function budgetBlock(
  { kind, id }: Pick<IndexElement, "kind" | "id">,
  notice: string,
  shown:
    | { level: "name" }
    | { level: "summary"; description: string | undefined }
    | { level: "schema"; element: IndexElement },
): string | undefined {
  const name = `- ${kind}: ${scalar(id)}\n${notice === "" ? "" : `  # ${notice}\n`}`;
  if (shown.level === "name") return name;
  if (shown.level === "summary") {
    const line = summaryLine(shown.description ?? "");
    return line === "" ? undefined : `${name}  summary: ${scalar(line)}\n`;
  }
  const lines = new Lines("  ", [kind]);
  addDetails(lines, shown.element, omittedInBudget);
  return lines.text === "" ? undefined : `${name}${lines.text}`;
}

/** The verbs that an item declares, in each spelling of the member. */
export function triggersOf({ actionTriggers, action_triggers, triggers }: Record<string, unknown>): string[] {
  return declaredVerbs([actionTriggers, action_triggers, triggers].flat());
}

function semanticOf(declared: Record<string, unknown>) {
  const { category, permissions, effects, annotations } = declared;
  const said = { category, permissions, effects, annotations, semantic: semanticData(declared) };
  return Object.values(said).some((value) => value !== undefined) ? said : undefined;
}

/** What an item or a server declares as `semantic` or `semantic_data`; of both, if both are objects. */
export function semanticData({ semantic, semantic_data }: Record<string, unknown>): unknown {
  return isObject(semantic) && isObject(semantic_data)
    ? { ...semantic_data, ...semantic }
    : (semantic ?? semantic_data);
}

const nothingMore: ReadonlySet<string> = new Set();

function addDetails(lines: Lines, { key, declared }: IndexElement, omitted: ReadonlySet<string>): void {
  for (const name of new Set([...leading, ...Object.keys(declared)])) {
    const value = declared[name];
    if (value === undefined || value === null || value === "" || value === key) continue;
    if (omittedFields.has(name) || omitted.has(name) || (name === "triggers" && isVerbs(value))) continue;
    if (isObject(value) && Object.keys(value).length === 0) continue;
    lines.add(snakeCase(name), valueText(value)) || lines.add(name, valueText(value));
  }
}

/** True if the element already shows the value as its verbs. */
function isVerbs(value: unknown): boolean {
  return typeof value === "string" || (Array.isArray(value) && value.every((verb) => typeof verb === "string"));
}

/** Lines of a mapping with unique keys: a publisher's key may equal one that the index adds. */
class Lines {
  text = "";
  readonly #indent: string;
  readonly #taken: Set<string>;

  constructor(indent: string, taken: readonly string[] = []) {
    this.#indent = indent;
    this.#taken = new Set(taken);
  }

  add(key: string, value: string): boolean {
    if (this.#taken.has(key)) return false;
    this.#taken.add(key);
    this.text += `${keyLine(this.#indent, key)} ${value}\n`;
    return true;
  }
}

const maxSummaryLength = 160;

/** The first sentence of a description, clipped. */
export function summaryLine(description: string): string {
  const line =
    text(description)
      .trim()
      .split(/\n|(?<=[.!?。])\s/, 1)[0]
      ?.trim() ?? "";
  return clip(line, maxSummaryLength);
}
