import compare from "semver/functions/compare.js";
import parse from "semver/functions/parse.js";
import type { VersionStatus } from "./schema.ts";

/** What decides which of a server's versions is the latest. */
export interface OrderedVersion {
  version: string;
  status: VersionStatus;
  /** Counts publications: a later one has a higher number. */
  sequence: number;
}

/**
 * One order over versions of every form, so that the latest does not depend on who is compared with whom first: semantic
 * versions by their rules and above all others, the rest by when they were published, and so are equal ones.
 */
export function compareVersions(a: OrderedVersion, b: OrderedVersion): number {
  const [left, right] = [parse(a.version), parse(b.version)];
  if (left !== null && right !== null) return compare(left, right) || a.sequence - b.sequence;
  if (left === null && right === null) return a.sequence - b.sequence;
  return left === null ? -1 : 1;
}

/** The highest that is not deleted; of a server that is deleted whole, the highest. */
export function latestOf<T extends OrderedVersion>(versions: readonly T[]): T | undefined {
  const present = versions.filter(({ status }) => status !== "deleted");
  const [first, ...others] = present.length > 0 ? present : versions;
  return first && others.reduce<T>((latest, next) => (compareVersions(next, latest) > 0 ? next : latest), first);
}
