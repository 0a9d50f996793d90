import type { ResponseMeta } from "../http/respond.ts";
import { shownFlags } from "../manifest/flag.ts";
import type { Published, PublishOptions } from "./publish.ts";
import { effectiveBy, writeMeta } from "./write.ts";

/** Rejected items are listed only where some may be left out. */
type AnswerOptions = Pick<PublishOptions, "partial" | "dryRun">;

/** What a publish answers, whichever way the document came. A dry run answers the same, and says that it was one. */
export function publishResult(published: Published, { partial, dryRun }: AnswerOptions, now: number) {
  const {
    head: _,
    directory: ___,
    capabilities: __,
    generation,
    narrowed,
    rejected,
    collisions,
    kept,
    flags,
    ...result
  } = published;
  return {
    dryRun: dryRun ? (true as const) : undefined,
    ...result,
    flags: shownFlags(flags),
    // A dry run has none: the tenant's generation does not move.
    generation: dryRun ? undefined : generation,
    kept: kept.length === 0 ? undefined : kept,
    rejected: partial ? rejected : undefined,
    collisions,
    effectiveBy: narrowed && !dryRun ? effectiveBy(now) : undefined,
  };
}

/** Headers of an answer that may be one to a dry run. */
export const dryRunHeaders = {
  ETag: "Tag of the server; absent from a dry run.",
  "Rollcall-Generation": "Of the tenant; absent from a dry run.",
};

/** Status and metadata of the answer to a publish. */
export function publishMeta({ head, directory, outcome }: Published): ResponseMeta & { status: 200 | 201 } {
  if (head === undefined)
    return { status: 200, message: "This was a dry run: nothing was published", source: "object" };
  return { ...writeMeta({ head, directory }), status: outcome === "created" ? 201 : 200 };
}
