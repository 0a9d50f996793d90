import type { Principal } from "../auth/principal.ts";
import type { PageRequest } from "../http/page.ts";
import { type Failure, failure } from "../kernel/failure.ts";
import { Digest, type ServerRef } from "../kernel/names.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { boundedFlags, flagsPerItem } from "../manifest/describe.ts";
import { countChanges, diffManifests } from "../manifest/diff.ts";
import { shownFlags } from "../manifest/flag.ts";
import { scanCapability } from "../manifest/scan.ts";
import { sectionForKind } from "../manifest/schema/manifest.ts";
import type { StoredManifest } from "../manifest/stored.ts";
import { checkMember, requireReadable } from "./access.ts";
import type { Head, Revision } from "./contract.ts";
import type { RegistryDeps } from "./deps.ts";
import type { RevisionDiff, RevisionPage, WholeRevision } from "./history-schema.ts";
import { itemRecords, serverRecord } from "./record.ts";
import { tokensOf } from "./views/enabled.ts";

/**
 * A page of a server's revisions, the newest first. Members only: a public server may have been private before. A cursor
 * is the number of a revision, which never changes; it needs no signature, because members may read every revision.
 */
export async function listRevisions(
  services: RegistryDeps,
  principal: Principal,
  ref: ServerRef,
  { limit, cursor }: PageRequest,
  minGeneration: number,
): Promise<Result<RevisionPage, Failure>> {
  const error = checkMember(principal, ref.tenant);
  if (error !== undefined) return err(error);
  if (cursor !== undefined && !/^[1-9]\d{0,14}$/.test(cursor)) return err(failure("ErrorCursorInvalid"));
  const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(cursor);
  // One row more than requested shows whether there is a next page.
  const { revisions, generation, ...found } = await services.tenant(ref.tenant).revisions(ref.name, before, limit + 1);
  const head = requireReadable(principal, ref.tenant, { head: found.head, asOf: generation }, minGeneration);
  if (!head.ok) return head;
  const items = revisions.slice(0, limit);
  const last = revisions.length > limit ? items.at(-1) : undefined;
  const nextCursor = last && String(last.number);
  return ok({ current: head.value.digest ?? null, items, generation, nextCursor });
}

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

export function wholeRevision({ revision, manifest, head }: RetainedRevision): WholeRevision {
  const capabilities = index(manifest, head);
  const ofItems = capabilities.flatMap(({ id, registry: { flags } }) =>
    flags.map((flag) => ({ ...flag, capability: id })),
  );
  // The fields of an earlier manifest may be others than those that the head's flags are about.
  const ofFields = boundedFlags(
    scanCapability({ kind: "server", name: head.name, declared: manifest.header }),
    flagsPerItem,
  );
  const record = serverRecord(head, tokensOf(manifest.capabilities));
  const registry = { ...record, flags: [...shownFlags(ofFields), ...ofItems] };
  return { ...revision, manifest: digestedContent(manifest), registry, capabilities };
}

/** Exactly the content that the digest covers, so that a reader can verify it. */
function digestedContent({ header, capabilities }: StoredManifest): Record<string, unknown> {
  const items = Map.groupBy(capabilities, ({ kind }) => sectionForKind(kind));
  return {
    ...header,
    ...Object.fromEntries([...items].map(([section, list]) => [section, list.map(({ declared }) => declared)])),
  };
}

function index({ capabilities }: StoredManifest, head: Head): WholeRevision["capabilities"] {
  const off = new Set(head.disabled.map(({ kind, key }) => `${kind} ${key}`));
  const recordOf = itemRecords(head);
  return capabilities.map((item) => {
    const { id, digest, ...registry } = recordOf(item);
    const { kind, key } = item;
    return { kind, name: key, id, digest, registry, enabled: !off.has(`${kind} ${key}`) };
  });
}

interface DiffOptions {
  minGeneration?: number;
  /** Adds both versions of each item. */
  withItems?: boolean;
  /** Called before each step; a returned failure stops the work. */
  step?: (done: number, total: number, message: string) => Failure | undefined;
}

/** The classified changes between two revisions of a server. Without `to`, up to the current one. */
export async function diffRevisions(
  services: RegistryDeps,
  principal: Principal,
  ref: ServerRef,
  wanted: { from: string | undefined; to: string | undefined },
  { minGeneration = 0, withItems = false, step = () => undefined }: DiffOptions = {},
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
  const [earlier, later] = [before.value.manifest, after.value.manifest];
  const diff = compareRevisions(ref.name, earlier, later);
  return ok({ diff: withItems ? withVersions(diff, earlier, later) : diff, generation: after.value.generation });
}

/** Both versions of what changed: the declared item, or the fields of the manifest where `kind` is `server`. */
function withVersions(diff: RevisionDiff, earlier: StoredManifest, later: StoredManifest): RevisionDiff {
  const finder = ({ header, capabilities }: StoredManifest) => {
    const items = new Map(capabilities.map(({ kind, key, declared }) => [`${kind} ${key}`, declared]));
    return (kind: string, name: string) => (kind === "server" ? header : items.get(`${kind} ${name}`));
  };
  const [before, after] = [finder(earlier), finder(later)];
  const changes = diff.changes.map((change) => ({
    ...change,
    before: before(change.kind, change.name),
    after: after(change.kind, change.name),
  }));
  return { ...diff, changes };
}

function compareRevisions(name: string, before: StoredManifest, after: StoredManifest): RevisionDiff {
  const changes = diffManifests(name, before, after).map(({ key, ...change }) => ({
    name: key,
    breaking: change.classification === "breaking" || change.classification === "removed",
    ...change,
  }));
  return { from: before.digest, to: after.digest, counts: countChanges(changes), changes };
}
