import type { Failure } from "../kernel/failure.ts";
import { shownFlags } from "../manifest/flag.ts";
import { refused } from "../manifest/intake/intake.ts";
import type { PublisherEvent, ReceivedEvent } from "./contract.ts";
import type { EventResult } from "./schema.ts";

export function isDryRun(event: PublisherEvent): boolean {
  return event.type === "manifest.published" && event.dryRun;
}

/** What the sender of an event is told. A dry run tells what publishing the manifest would do. */
export function eventAnswer(
  event: PublisherEvent,
  { outcome, generation, digest, published, warnings: noted }: ReceivedEvent,
  warnings: readonly string[],
): EventResult {
  const message = "This was a dry run: nothing was published";
  const dryRun = isDryRun(event) ? { dryRun: true as const, message } : {};
  if (published === undefined) return { ...dryRun, outcome, generation, digest, warnings: noted };
  const { kept, header, emptied, changes, collisions, cost } = published;
  const flags = shownFlags(published.flags);
  const told = published.outcome === "unchanged" ? published.warnings : [...warnings, ...published.warnings];
  const answer = {
    kept: kept.length === 0 ? undefined : kept,
    warnings: told.length === 0 ? undefined : told,
    emptied,
  };
  if (!isDryRun(event)) return { outcome, generation, digest, ...answer };
  return { ...dryRun, outcome, digest: published.digest, changes, header, collisions, flags, cost, ...answer };
}

/** A refusal of a manifest, with the places where the event has it. */
export function inEvent(error: Failure): Failure {
  if (error.code !== "ErrorMCPServerValidation") return error;
  const { issues = [], ...details } = error.details ?? {};
  if (issues.length === 0) return error;
  const placed = issues.map((issue) => ({ ...issue, path: `/data/manifest${issue.path}` }));
  return refused(placed, details);
}
