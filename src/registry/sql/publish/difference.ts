import type { Steps } from "../../../kernel/pace/pace.ts";
import { readJson } from "../../../kernel/read-json.ts";
import { classifyHeader } from "../../../manifest/classify/classify.ts";
import { itemChangeSteps, itemKey, type NewChange } from "../../../manifest/diff.ts";
import type { PreparedCapability } from "../../../manifest/prepare.ts";
import type { CapabilityKind } from "../../../manifest/schema/capability.ts";
import { readCapability } from "../items.ts";
import type { PlacedManifest } from "../place.ts";
import type { Layout, RevisionContent } from "../revisions.ts";

/** The changes that a publish makes. */
export interface Difference {
  added: PreparedCapability[];
  gone: { kind: CapabilityKind; key: string; digest: string; id: string }[];
  changes: NewChange[];
}

/** Items that the new manifest adds and removes relative to the last layout, with classified changes. */
export function* differenceSteps(
  sql: SqlStorage,
  server: string,
  { layout: before, was }: { layout: Layout; was: ReadonlySet<string> },
  { items, incoming }: Pick<PlacedManifest, "items" | "incoming">,
): Steps<Difference> {
  const is = new Set(items.map(({ kind, digest }) => `${kind} ${digest}`));
  const added = incoming.filter(({ kind, digest }) => !was.has(`${kind} ${digest}`)).map((item) => ({ ...item }));
  const left = before.filter(([kind, digest]) => !is.has(`${kind} ${digest}`));
  yield before.length + items.length;
  const gone: GoneItem[] = [];
  for (const [kind, digest] of left) {
    gone.push({ kind, digest, ...readCapability(sql, server, kind, digest) });
    yield unitsPerRow;
  }

  const firstSeen = new Map(gone.map((item) => [itemKey(item), item.created_at]));
  for (const item of added) {
    // The creation time stays that of the first version, whatever the publisher says later.
    const createdAt = firstSeen.get(itemKey(item));
    if (typeof createdAt === "string") item.createdAt = createdAt;
  }
  const changes = yield* itemChangeSteps(
    gone.map(({ kind, key, digest, declared }) => versionOf({ kind, key, digest }, declared)),
    added.map(({ kind, key, digest, text }) => versionOf({ kind, key, digest }, text)),
  );
  return { added, gone, changes };
}

type GoneItem = Difference["gone"][number] & ReturnType<typeof readCapability>;

/** About the time of one statement. */
const unitsPerRow = 20;

/** A version of an item that is parsed only if it is compared. */
function versionOf(version: { kind: CapabilityKind; key: string; digest: string }, text: string) {
  return {
    ...version,
    get declared() {
      return readJson(text) as Record<string, unknown>;
    },
  };
}

/**
 * Detects a change that no new version announces, which is how a reviewed server could turn into another one. With an
 * unchanged version, any change counts; without a version, any change of an existing item that is more than cosmetic.
 */
export function unannouncedChange(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
  changes: readonly NewChange[],
): string | undefined {
  if (before.version !== after.version) return undefined;
  if (typeof after.version === "string") return `the manifest changed but \`version\` is still ${after.version}`;
  const changed = changes.find(({ from, to, classification }) => from && to && classification !== "cosmetic");
  return changed && `${changed.kind} ${changed.key} changed without a \`version\``;
}

/** The change of the manifest's own fields. A new order of the same items must appear in the log too. */
export function headerChange(
  server: string,
  before: RevisionContent | undefined,
  { digest: to, header }: Pick<PlacedManifest, "digest" | "header">,
  itemsChanged: boolean,
): NewChange | undefined {
  if (before === undefined) {
    if (itemsChanged) return undefined;
    return { kind: "server", key: server, classification: "additive", to, reasons: [] };
  }
  const verdict = classifyHeader(before.header, header);
  if (itemsChanged && verdict.reasons.length === 0) return undefined;
  return { kind: "server", key: server, to, ...verdict };
}
