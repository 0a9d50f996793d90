import { asCached } from "../../reading/manifest.ts";
import { isUnread } from "../../reading/view.ts";
import type { Services } from "../../services.ts";
import { parseResourceUri } from "../resource-uri.ts";

/** What is written in the code, and the same for everyone. */
const fixedMethods = ["server/discover", "tools/list", "prompts/list", "resources/templates/list"];

/**
 * How long the answer to a message lasts: whether, at any later moment, it would be the same. Undefined where only
 * answering it again could tell. Taken before it is answered, so that what it is about cannot change unnoticed meanwhile.
 */
export function lasting(services: Services, message: unknown): (() => boolean) | undefined {
  const { method, params } = (message ?? {}) as { method?: string; params?: { cursor?: unknown; uri?: unknown } };
  if (fixedMethods.includes(method ?? "")) return params?.cursor === undefined ? () => true : undefined;
  if (method !== "resources/read" || typeof params?.uri !== "string") return undefined;
  const parsed = parseResourceUri(params.uri);
  const server = parsed.ok ? parsed.value?.server : undefined;
  const resolved = server && services.heads.peek(server, asCached);
  if (server === undefined || resolved?.head === undefined || isUnread(resolved.head)) return undefined;
  return () => services.heads.peek(server, asCached) === resolved;
}
