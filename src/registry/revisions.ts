import type { Principal } from "../auth/principal.ts";
import { type Failure, failure } from "../kernel/failure.ts";
import { Digest, type ServerRef } from "../kernel/names.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { type ChangeCounts, countChanges, diffManifests, type NewChange } from "../manifest/diff.ts";
import type { StoredManifest } from "../manifest/stored.ts";
import { checkMember, requireReadable } from "./access.ts";
import type { Head, Revision } from "./contract.ts";
import type { RegistryDeps } from "./deps.ts";

interface RetainedRevision {
  head: Head;
  revision: Revision;
  manifest: StoredManifest;
  generation: number;
}

/** A digest from the request, and the name of its parameter. */
interface WantedRevision {
  parameter: string;
  value: string | undefined;
}

/**
 * Reads a revision of this server; a digest that only another server published is not found. Permission is checked
 * first, so that a caller who may not read the server learns nothing about the digest. Members only: a public server
 * may have been private before, and revisions contain switched-off items.
 */
export async function readRevision(
  services: RegistryDeps,
  principal: Principal,
  ref: ServerRef,
  { parameter, value }: WantedRevision,
  minGeneration = 0,
): Promise<Result<RetainedRevision, Failure>> {
  const error = checkMember(principal, ref.tenant);
  if (error !== undefined) return err(error);
  const { revision, generation, ...found } = await services.tenant(ref.tenant).revision(ref.name, value ?? "");
  const head = requireReadable(principal, ref.tenant, { head: found.head, asOf: generation }, minGeneration);
  if (!head.ok) return head;
  const digest = Digest.safeParse(value);
  if (!digest.success) {
    const reason = value === undefined ? "is required: a digest" : digest.error.issues[0]?.message;
    return err(failure("ErrorBadRequest", `${parameter} ${reason}`));
  }
  const body = revision && (await services.bodies.get(ref, digest.data));
  if (revision === undefined || body === undefined) return err(failure("ErrorRevisionNotFound"));
  return ok({ head: head.value, revision, generation, manifest: body.manifest });
}

interface RevisionDiff {
  from: string;
  to: string;
  counts: ChangeCounts;
  changes: (Omit<NewChange, "key"> & { name: string; breaking: boolean })[];
}

interface DiffOptions {
  minGeneration?: number;
  /** Called before each step; a returned failure stops the work. */
  step?: (done: number, total: number, message: string) => Failure | undefined;
}

/** The classified changes between two revisions of a server. Without `to`, up to the current one. */
export async function diffRevisions(
  services: RegistryDeps,
  principal: Principal,
  ref: ServerRef,
  wanted: { from: string | undefined; to: string | undefined },
  { minGeneration = 0, step = () => undefined }: DiffOptions = {},
): Promise<Result<{ diff: RevisionDiff; generation: number }, Failure>> {
  const read = (parameter: string, value: string | undefined) =>
    readRevision(services, principal, ref, { parameter, value }, minGeneration);
  let stopped = step(0, 3, "Reading the earlier revision");
  if (stopped !== undefined) return err(stopped);
  const before = await read("from", wanted.from);
  if (!before.ok) return before;

  stopped = step(1, 3, "Reading the later revision");
  if (stopped !== undefined) return err(stopped);
  const after = await read("to", wanted.to ?? before.value.head.digest);
  if (!after.ok) return after;

  stopped = step(2, 3, "Comparing them");
  if (stopped !== undefined) return err(stopped);
  const diff = compareRevisions(ref.name, before.value.manifest, after.value.manifest);
  return ok({ diff, generation: after.value.generation });
}

function compareRevisions(name: string, before: StoredManifest, after: StoredManifest): RevisionDiff {
  const changes = diffManifests(name, before, after).map(({ key, ...change }) => ({
    name: key,
    breaking: change.classification === "breaking" || change.classification === "removed",
    ...change,
  }));
  return { from: before.digest, to: after.digest, counts: countChanges(changes), changes };
}
