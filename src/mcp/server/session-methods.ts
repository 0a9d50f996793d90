/**
 * Methods that give out content. They need a negotiated session where the deployment requires negotiation. Everything a
 * client calls before it can know that is open: initialize, discover, ping, lists and completion.
 */
const methods: ReadonlySet<unknown> = new Set(["tools/call", "resources/read", "prompts/get", "subscriptions/listen"]);

export function needsSession(method: unknown): boolean {
  return methods.has(method);
}
