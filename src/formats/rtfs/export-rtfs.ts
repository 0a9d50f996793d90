import { isObject, withoutUndefined } from "../../kernel/json.ts";
import { type RtfsCapability, toolName } from "./capability.ts";
import { validName } from "./item-name.ts";

/**
 * An item as an RTFS capability. `:name` is the name for readers: the item's title, where an import gives the item the
 * same name again. The id is always the item's own: a text must not pass for another capability.
 */
export function exportRtfs(item: Record<string, unknown> & { id: string }): RtfsCapability {
  const { id, metadata, title, ...fields } = item;
  const name = String(item.name ?? toolName(id));
  const about = isObject(metadata) ? metadata : undefined;
  const rtfs = isObject(about?.rtfs) ? about.rtfs : {};
  const keepsName = (written: unknown): written is string =>
    typeof written === "string" && written !== name && validName({ id, name: written, metadata: about }) === name;

  if (keepsName(rtfs.name)) {
    const { name: written, ...others } = rtfs;
    const left = Object.keys(others).length === 0 ? undefined : others;
    const cleaned = withoutUndefined({ ...about, rtfs: left });
    return withoutUndefined({ ...fields, title, metadata: cleaned, id, name: String(written) }) as RtfsCapability;
  }
  const isTitle = keepsName(title) && title !== toolName(id);
  return withoutUndefined({
    ...fields,
    title: isTitle ? undefined : title,
    metadata,
    id,
    name: isTitle ? title : name,
  }) as RtfsCapability;
}
