import type { RevisionDiff } from "../client/read.ts";
import { type Flag, isHigh } from "../client/shapes.ts";
import type { CurrentServer } from "./current.ts";
import type { LockedServer } from "./lock-file.ts";

export type FindingClass = "breaking" | "additive" | "cosmetic" | "removed" | "unknown";

export interface Finding {
  /** `tool:get_forecast`, or `server` for the server itself. */
  item: string;
  finding:
    | "changed"
    | "added"
    | "removed"
    | "gone"
    | "flagged"
    | "withdrawn"
    | "deprecated"
    | "pending"
    | "rewritten-log"
    | "wrong-digest";
  class?: FindingClass;
  /** `fail` ends with exit code 3. */
  level: "fail" | "warn" | "note";
  from?: string;
  to?: string;
  reasons: string[];
  /** What was locked and what is there, where both could be read. */
  before?: unknown;
  after?: unknown;
}

export interface CompareOptions {
  /** Classes of changes that pass. */
  allow?: readonly string[];
  /** An item that the lock does not have fails, too. */
  strict?: boolean;
  diff?: RevisionDiff;
}

type DiffChange = RevisionDiff["changes"][number] & { before?: unknown; after?: unknown };

/** What differs between what was reviewed and what is there. A reworded description fails: that is how a rug pull looks. */
export function compareServer(locked: LockedServer, current: CurrentServer, options: CompareOptions = {}): Finding[] {
  const { allow = [], strict = false } = options;
  const changes = new Map(
    (options.diff?.changes ?? []).map((change) => [`${change.kind}:${change.name}`, change as DiffChange]),
  );
  const findings: Finding[] = [];
  const levelOf = (kind: FindingClass): Finding["level"] => (allow.includes(kind) ? "warn" : "fail");
  const explained = (key: string) => {
    const change = changes.get(key);
    const reasons = change?.reasons.map(({ path, message }) => (path === "" ? message : `${path} ${message}`)) ?? [];
    return {
      class: (change?.classification ?? "unknown") as FindingClass,
      reasons,
      before: change?.before,
      after: change?.after,
    };
  };

  for (const [item, { digest, flags = [] }] of Object.entries(locked.capabilities)) {
    const now = current.items.get(item);
    if (now === undefined) {
      const { before } = explained(item);
      findings.push({
        item,
        finding: "removed",
        class: "removed",
        level: levelOf("removed"),
        from: digest,
        reasons: [],
        before,
      });
    } else if (now.digest !== digest) {
      const why = explained(item);
      findings.push({ item, finding: "changed", level: levelOf(why.class), from: digest, to: now.digest, ...why });
    } else findings.push(...newFlags(item, now.flags, flags));
  }
  if (!locked.partial) {
    for (const [item, { digest, flags }] of current.items) {
      if (Object.hasOwn(locked.capabilities, item)) continue;
      const level = strict && !allow.includes("additive") ? "fail" : "warn";
      const reasons = flags.filter(isHigh).map(({ rule, message }) => `${rule}: ${message}`);
      findings.push({ item, finding: "added", class: "additive", level, to: digest, reasons });
    }
    if (locked.digest !== undefined && locked.digest === current.digest)
      findings.push(...newFlags("server", current.flags, locked.flags ?? []));
    const isRecordChanged =
      locked.digest !== undefined && current.digest !== undefined && locked.digest !== current.digest;
    if (isRecordChanged && !findings.some(({ finding }) => ["changed", "removed", "added"].includes(finding))) {
      const header = [...changes].find(([key]) => key.startsWith("server:"))?.[0] ?? "";
      const why = explained(header);
      findings.push({
        item: "server",
        finding: "changed",
        level: levelOf(why.class),
        from: locked.digest,
        to: current.digest,
        ...why,
      });
    }
  }
  return [...findings, ...aboutServer(current)];
}

/** High flags that were not there at the review and that no admin has acknowledged. */
function newFlags(item: string, now: readonly Flag[], locked: readonly string[]): Finding[] {
  return now
    .filter((flag) => isHigh(flag) && !locked.includes(flag.rule))
    .map(({ rule, path, message }) => ({
      item,
      finding: "flagged",
      level: "fail",
      reasons: [`${rule} ${path}: ${message}`],
    }));
}

function aboutServer({ status, statusMessage, isPending, mismatches }: CurrentServer): Finding[] {
  const reasons = statusMessage === undefined ? [] : [statusMessage];
  const findings: Finding[] = [];
  if (status === "withdrawn") findings.push({ item: "server", finding: "withdrawn", level: "fail", reasons });
  if (status === "deprecated") findings.push({ item: "server", finding: "deprecated", level: "warn", reasons });
  if (isPending) {
    const why = "A new revision waits for review; readers still get the approved one";
    findings.push({ item: "server", finding: "pending", level: "note", reasons: [why] });
  }
  for (const item of mismatches) {
    const why = "The registry's content does not hash to the digest that it states";
    findings.push({ item, finding: "wrong-digest", level: "fail", reasons: [why] });
  }
  return findings;
}
