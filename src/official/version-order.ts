import compare from "semver/functions/compare.js";
import parse from "semver/functions/parse.js";
import type { VersionStatus } from "./schema.ts";

/** The fields that decide which version is the latest. */
interface OrderedVersion {
  version: string;
  status: VersionStatus;
  /** Order of publication: a later version has a higher number. */
  sequence: number;
}

/**
 * A total order over versions, so that the latest does not depend on the order of comparison: semantic versions by
 * precedence and above all others, the rest and ties by order of publication.
 */
function compareVersions(a: OrderedVersion, b: OrderedVersion): number {
  const [left, right] = [parse(a.version), parse(b.version)];
  if (left !== null && right !== null) return compare(left, right) || a.sequence - b.sequence;
  if (left === null && right === null) return a.sequence - b.sequence;
  return left === null ? -1 : 1;
}

/** The highest version that is not deleted; if all are deleted, the highest. */
export function latestOf<T extends OrderedVersion>(versions: readonly T[]): T | undefined {
  const present = versions.filter(({ status }) => status !== "deleted");
  const [first, ...others] = present.length > 0 ? present : versions;
  return first && others.reduce<T>((latest, next) => (compareVersions(next, latest) > 0 ? next : latest), first);
}
