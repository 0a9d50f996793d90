import type { Head, SourceStatus } from "../contract.ts";

/**
 * What readers are told about the sources of a server. A source has a `lastSynced` if it was read at its present
 * address; only then is anything of it shown.
 */

/** What to do about a source that only its publisher can run. */
export function commandHint(tenant: string, name: string): string {
  return `The registry does not run commands: publish what this one offers with \`rollcall publish ${tenant}/${name} -- COMMAND\``;
}

/** A source without an address that is no command either. */
export const addressHint = "It has no address, so the registry cannot read it: set its url";

/** One sentence for each source that was not read the last time. */
export function sourceWarnings({ sources = [] }: Pick<Head, "sources">): string[] {
  return sources.flatMap((source) => warningOf(source) ?? []);
}

function warningOf({ id, status, lastSynced, error }: SourceStatus): string | undefined {
  switch (status) {
    case "live":
      return undefined;
    case "not-read":
      return `Source ${id}: ${error}`;
    case "pending":
      return lastSynced === undefined
        ? `Source ${id} was not read yet at its address; nothing of it is shown`
        : `Source ${id} was not read since its settings changed; showing its last known capabilities`;
    case "gated":
    case "not-mcp":
    case "unreachable":
      return lastSynced === undefined
        ? `Source ${id} is ${status} and was never read at its address; nothing of it is shown`
        : `Source ${id} is ${status}; showing its last known capabilities`;
  }
}

/** What decides whether a source was read. */
export type ReadState = Pick<SourceStatus, "status" | "lastSynced">;

/** The sources that the registry reads. */
export function readSources<Source extends ReadState>({ sources = [] }: { sources?: Source[] }): Source[] {
  return sources.filter(({ status }) => status !== "not-read");
}

/** True if a source was never read at its present address. */
export function isSourcePending(head: { sources?: ReadState[] }): boolean {
  return readSources(head).some(({ lastSynced }) => lastSynced === undefined);
}

/** True if no source could be read the last time, and something is shown that one of them offered before. */
export function isSourceStale(head: { sources?: ReadState[] }): boolean {
  const sources = readSources(head);
  const hasFailed = sources.every(({ status }) => status !== "live" && status !== "pending");
  return hasFailed && sources.some(({ lastSynced }) => lastSynced !== undefined);
}
