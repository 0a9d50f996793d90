import type { DirectoryState } from "../http/directory-state.ts";
import { freshMs } from "../kernel/platform/freshness.ts";
import type { SearchDeps } from "./deps.ts";
import type { SearchScope } from "./visible-cards.ts";

/** When a search began, by the clock and by the writes through this isolate. */
export interface SearchStart {
  at: number;
  writes: number;
}

export function searchStart(services: SearchDeps): SearchStart {
  return { at: services.now(), writes: services.writes() };
}

/**
 * Whether what a search found in a scope is what it would find now, as far as is known without asking an object. undefined if
 * that cannot be known: what is public was searched, in no known state.
 */
export function searchValidity(
  services: SearchDeps,
  { own, elsewhere }: SearchScope,
  directory: DirectoryState | undefined,
  start: SearchStart,
): (() => boolean) | undefined {
  if (elsewhere !== undefined && directory === undefined) return undefined;
  // Not the directory's view: it would be kept in memory as long as the answer.
  const state = directory && { epoch: directory.epoch, generation: directory.generation };
  return () => {
    if (state !== undefined && !services.edgeDirectory.isCurrent(state)) return false;
    return own.length === 0 || (services.now() - start.at <= freshMs && services.writes() === start.writes);
  };
}
