import { type Issue, pointer } from "../kernel/issue.ts";
import { isObject } from "../kernel/json.ts";
import { clip } from "../kernel/text.ts";

/**
 * Triggers that a manifest declares for elements that it does not have: `{verb: [name or id]}`. The capability index
 * leaves them out, so the publisher has to be told. A switched-off element counts as there.
 */
export function triggersWithoutElement(
  header: Record<string, unknown>,
  items: readonly { key: string; id: string }[],
): Issue[] {
  const member = ["actionTriggers", "action_triggers"].find((name) => isObject(header[name]));
  if (member === undefined) return [];
  const known = new Set(items.flatMap(({ key, id }) => [key, id]));
  return Object.entries(header[member] as Record<string, unknown>).flatMap(([verb, names]) =>
    (Array.isArray(names) ? names : []).flatMap((name: unknown, index): Issue[] => {
      if (typeof name !== "string" || known.has(name)) return [];
      const message = `names ${JSON.stringify(clip(name, 128))}, which the server does not have; the index leaves the trigger out`;
      return [{ path: pointer(pointer(`/${member}`, verb), index), rule: "no-element", message }];
    }),
  );
}
