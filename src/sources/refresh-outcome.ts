import { listNames } from "../formats/mcp/describe-item.ts";
import type { Failure } from "../kernel/failure.ts";
import { err, type Result } from "../kernel/result.ts";
import { clip } from "../kernel/text.ts";
import type { Rejection } from "../manifest/prepare.ts";
import type { Refreshed } from "../registry/contract.ts";
import type { StoredCopy } from "../registry/sql/source-copies.ts";
import type { ProbeResult, ReadableSource, SourceRow } from "../registry/sql/source-rows.ts";
import type { SourceFailure, SourceReading } from "./contract.ts";
import { nextRefreshMs, probeState } from "./schedule.ts";
import { isPlainName, nameForReaders, visibleWords } from "./source-words.ts";

/** One source of a server and the result of reading it. */
export interface SourceRead {
  source: ReadableSource;
  row: SourceRow;
  read: Result<SourceReading, SourceFailure>;
}

export function offeredItems(reads: readonly SourceRead[]): number {
  const lists = reads.flatMap(({ read }) => (read.ok ? listNames.map((name) => read.value[name]) : []));
  return lists.reduce((sum, list) => sum + list.length, 0);
}

/** Limited, because warnings are part of every head. */
const maxWarnings = 20;
const maxMessageLength = 2_000;

export function probeResultOf(
  id: string,
  read: Result<SourceReading, SourceFailure>,
  { warnings, details }: Notes,
): ProbeResult {
  const shown = warnings.slice(0, maxWarnings);
  if (read.ok) {
    const { remembered, warnings: odd } = read.value;
    const message = [...odd.map(({ list, message: text }) => `${list}: ${text}`), ...details]
      .join("\n")
      .slice(0, maxMessageLength);
    return { id, state: "live", remembered, warnings: shown, message: message === "" ? undefined : message };
  }
  const { reason, message } = read.error;
  return { id, state: probeState(reason), error: reason, message, warnings: shown };
}

/** A source that announces no list at all, after it offered something, is more likely broken than empty. */
export function hasVanished(read: SourceRead["read"], last: StoredCopy | undefined): boolean {
  return (
    read.ok && read.value.declaresNothing && last !== undefined && listNames.some((list) => last.offer[list].length > 0)
  );
}

export function undeclared(one: SourceRead): SourceRead {
  const message = "It declares no capabilities any more; what it offered before is kept";
  return { ...one, read: err({ reason: "undeclared", message }) };
}

/** Marks the sources as failed because their manifest cannot be published, with the reason. */
export function unpublishable(reads: SourceRead[], { message }: Failure): SourceRead[] {
  const reason = `What it offers cannot be published: ${message}`.slice(0, maxMessageLength);
  return reads.map((one) => (one.read.ok ? { ...one, read: err({ reason: "error", message: reason }) } : one));
}

/** Marks the sources of which nothing could be published. What they offered before stays. */
export function withoutOffers(reads: SourceRead[], ids: readonly string[], why: string | undefined): SourceRead[] {
  const message = `Everything it offers was refused${why === undefined ? "" : `: ${why}`}`.slice(0, maxMessageLength);
  return reads.map((one) =>
    one.read.ok && ids.includes(one.source.id) ? { ...one, read: err({ reason: "unpublishable", message }) } : one,
  );
}

export function failuresOf(reads: SourceRead[]): Refreshed["failures"] {
  return reads.flatMap(({ source, read }) =>
    read.ok ? [] : [{ id: source.id, reason: read.error.reason, message: read.error.message }],
  );
}

/** Milliseconds until the next refresh: the earliest that any source requires. A failing source backs off. */
export function msUntilNextRefresh(reads: SourceRead[]): number {
  return Math.min(
    ...reads.map(({ row, read }) =>
      nextRefreshMs(
        read.ok ? { ok: true, ttlMs: read.value.ttlMs } : { ok: false, failures: row.failures + 1 },
        Math.random(),
      ),
    ),
  );
}

/** What a refresh has to say about the items, besides publishing them. */
export interface Notes {
  /** For every reader of the server. */
  warnings: readonly string[];
  /** For members of the tenant: may quote the source. */
  details: readonly string[];
}

export const noNotes: Notes = { warnings: [], details: [] };

type Left = Pick<Rejection, "name" | "issues">;

export function notesOn(rejected: readonly Left[]): Notes {
  return {
    warnings: [...Map.groupBy(rejected, whyLeftOut)].map(([why, items]) => clip(`${leftOut(items)}: ${why}`, 300)),
    details: rejected.filter(({ name }) => !isPlainName(name)).map(rejectionDetail),
  };
}

function leftOut(items: readonly Left[]): string {
  const [first, ...others] = items;
  if (others.length === 0) return `${nameForReaders(first?.name)} was left out`;
  const named = items.flatMap(({ name }) => (isPlainName(name) ? [nameForReaders(name)] : []));
  const shown = named.slice(0, namedItems).join(", ");
  return `${items.length} items were left out${shown === "" ? "" : ` (${shown}${named.length > namedItems ? " …" : ""})`}`;
}

const namedItems = 3;

/** Why an item was left out, for every reader. Own words stand for the message where that may quote the name. */
function whyLeftOut({ name, issues }: Left): string {
  const [issue] = issues;
  if (issue === undefined) return "it is not valid";
  if (isPlainName(name)) return issue.message;
  const field = issue.path.split("/").at(-1) ?? "";
  const what = identifying.includes(field) ? `the ${field === "name" ? "name" : "URI"}` : "a field";
  const words = wordsOfRules[issue.rule];
  return words === undefined ? `it breaks the rule ${issue.rule}` : words.replace("FIELD", what);
}

const identifying = ["name", "uri", "uriTemplate"];

/** What a rule says of an item, without the words of its source. */
const wordsOfRules: Record<string, string> = {
  invalid_format: "FIELD has characters that are not allowed",
  invalid_type: "FIELD is missing or of another type",
  invalid_value: "FIELD has a value that is not allowed",
  too_big: "FIELD is too long",
  too_small: "FIELD is empty or too short",
  duplicate: "another item has the same name",
  owned: "the name belongs to an item that came another way",
  "id-taken": "the id belongs to another item",
  size: "it is too large",
  type: "it is not an object",
};

/** The same for members of the tenant, with the name of the source. */
function rejectionDetail({ name, issues }: Left): string {
  return `left out: ${visibleWords(JSON.stringify(name ?? ""))}: ${visibleWords(issues[0]?.message ?? "")}`;
}
