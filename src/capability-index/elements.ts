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
    "actionTriggers action_triggers"
  ).split(" "),
);

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
  addDetails(lines, element);
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
  addDetails(lines, shown.element);
  return lines.text === "" ? undefined : `${name}${lines.text}`;
}

export function triggersOf(declared: Record<string, unknown>): string[] {
  return declaredVerbs(declared.actionTriggers ?? declared.action_triggers);
}

function semanticOf({ category, permissions, effects, annotations, semantic }: Record<string, unknown>) {
  const said = { category, permissions, effects, annotations, semantic };
  return Object.values(said).some((value) => value !== undefined) ? said : undefined;
}

function addDetails(lines: Lines, { key, declared }: IndexElement): void {
  for (const name of new Set([...leading, ...Object.keys(declared)])) {
    const value = declared[name];
    if (value === undefined || value === null || value === "" || value === key || omittedFields.has(name)) continue;
    if (isObject(value) && Object.keys(value).length === 0) continue;
    lines.add(snakeCase(name), valueText(value)) || lines.add(name, valueText(value));
  }
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
