import { clip } from "../../../kernel/text.ts";
import { deprecationOfText } from "../../../manifest/deprecation.ts";
import { itemKey, type NewChange } from "../../../manifest/diff.ts";
import { type Flag, isHigh, keepSevere, shownFlags } from "../../../manifest/flag.ts";
import type { PreparedCapability } from "../../../manifest/prepare.ts";
import { recordOf } from "../../record.ts";
import type { ServerConfig } from "../../schema.ts";
import type { LoggedChange } from "../change-log.ts";

/** What a publish tells of the records of its items: readers of the log get them, its sender gets warnings. */

/** The log keeps every change for long, so each has only the worst flags. */
export const loggedFlags = 3;

type FlagsOf = (item: PreparedCapability) => readonly Flag[];

/** Changes with the records of the new versions. */
export function withRecords(
  changes: readonly NewChange[],
  added: readonly PreparedCapability[],
  flagsOf: FlagsOf,
  config: Pick<ServerConfig, "status" | "statusMessage"> = {},
): LoggedChange[] {
  const items = new Map(added.map((item) => [itemKey(item), item]));
  const { status = "active", statusMessage } = config;
  return changes.map((change) => {
    const item = change.kind === "server" ? undefined : items.get(itemKey({ kind: change.kind, key: change.key }));
    if (item === undefined) return change;
    const deprecated = deprecationOfText(item.text);
    const flags = keepSevere(flagsOf(item), loggedFlags);
    return { ...change, registry: recordOf({ tokens: item.tokens, flags, deprecated }, { status, statusMessage }) };
  });
}

const maxWarnings = 10;

/** One warning for each new item that choices leave out. */
export function choiceWarnings(added: readonly PreparedCapability[], flagsOf: FlagsOf): string[] {
  const texts = added.flatMap((item) => {
    const rules = new Set(
      shownFlags(flagsOf(item))
        .filter(isHigh)
        .map(({ rule }) => rule),
    );
    if (rules.size === 0) return [];
    const remedy = "reword the text, or ask an admin to acknowledge the flag";
    return [
      `${clip(itemKey(item), 128)} is left out of agents' choices because of ${[...rules].join(", ")}: ${remedy}`,
    ];
  });
  if (texts.length <= maxWarnings) return texts;
  return [...texts.slice(0, maxWarnings), `and ${texts.length - maxWarnings} more items are left out of choices`];
}
