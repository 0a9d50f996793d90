import type { RequestContext } from "../http/context.ts";
import { requestError } from "../http/context.ts";
import { booleanParam } from "../http/request.ts";
import { sendData } from "../http/respond.ts";
import type { RegistryDeps } from "./deps.ts";
import type { Published, PublishOptions } from "./publish.ts";
import { effectiveBy, writeMeta } from "./write.ts";

/** Query parameters of a publish. */
type PushQuery = Partial<Record<"partial" | "dryRun" | "sections" | "include", string>>;

export function pushOptions({ partial, dryRun, sections, include }: PushQuery): PublishOptions {
  return {
    partial: booleanParam("partial", partial),
    dryRun: booleanParam("dryRun", dryRun),
    placement: { by: "push", includesDisabled: includesDisabled(include) },
    confirmed: sections === undefined ? [] : sections.split(",").map((name) => name.trim()),
  };
}

/** `include=disabled`: on a read, show switched-off items; on a publish, the sender has seen them. */
export function includesDisabled(include: string | undefined): boolean {
  if (include === undefined || include === "disabled") return include !== undefined;
  throw requestError("ErrorBadRequest", 'include can only be "disabled"');
}

interface AnswerOptions {
  /** Rejected items are listed only where some may be left out. */
  partial: boolean;
  dryRun: boolean;
  now: number;
}

/** What a publish answers, whichever way the document came. A dry run answers the same, and says that it was one. */
function publishAnswer(published: Published, { partial, dryRun, now }: AnswerOptions) {
  const { head: _, capabilities: __, generation, narrowed, rejected, collisions, kept, ...result } = published;
  return {
    dryRun: dryRun ? true : undefined,
    ...result,
    // A dry run has none: the tenant's generation does not move.
    generation: dryRun ? undefined : generation,
    kept: kept.length === 0 ? undefined : kept,
    rejected: partial ? rejected : undefined,
    collisions,
    effectiveBy: narrowed && !dryRun ? effectiveBy(now) : undefined,
  };
}

/** Sends what a publish answers, with more members beside it. */
export function sendPublished(
  c: RequestContext,
  services: RegistryDeps,
  published: Published,
  { partial, dryRun, status }: Pick<PublishOptions, "partial" | "dryRun"> & { status?: number },
  more: object = {},
): Response {
  const data = { ...publishAnswer(published, { partial, dryRun, now: services.now() }), ...more };
  if (published.head === undefined) {
    return sendData(c, services, data, { message: "This was a dry run: nothing was published", source: "object" });
  }
  const success = published.outcome === "created" ? 201 : 200;
  return sendData(c, services, data, writeMeta(published.head, status ?? success));
}
