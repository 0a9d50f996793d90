import { canonicalJson } from "../kernel/digest.ts";
import { isObject } from "../kernel/json.ts";
import { attributesOf } from "./attributes.ts";
import type { PreparedCapability } from "./prepare.ts";
import { mentionedNames } from "./scan.ts";
import type { StoredCapability } from "./stored.ts";

/** A stored item as a publish takes it, for manifests that the object puts together from what it has. */
export function preparedItem(item: StoredCapability): PreparedCapability {
  const { declared, ...known } = item;
  const { metadata } = declared;
  return {
    ...known,
    path: "",
    text: canonicalJson(declared),
    discovered: isObject(metadata) && isObject(metadata.discovery),
    mentions: mentionedNames(declared),
    attributes: attributesOf(declared),
  };
}
