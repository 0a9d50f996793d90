import type { ChangeFilters, DisabledReason, Subscription } from "../../subscriptions/schema.ts";

/** Why a subscription is stopped, and what mends it. */
export const stoppedWords: Record<DisabledReason, string> = {
  paused: "Paused by its owner. Changes since then are not sent; what waited before is.",
  gone: "The receiver answered 410: it is gone. Mend the receiver, or send it elsewhere, then start it again.",
  refused: "The registry will not send requests to this address any more. Give it another address.",
  dead: "The last attempt of a message failed. Mend the receiver, send a test message, then start it again.",
};

export function StateChip({ of: { state, reason } }: { of: Pick<Subscription, "state" | "reason"> }) {
  if (state === "active") return <span class="chip ok">● on</span>;
  return <span class={`chip ${reason === "paused" ? "stale" : "high"}`}>◌ stopped: {reason}</span>;
}

export function filterWords({ servers, kinds, classifications }: ChangeFilters): string {
  const parts = [
    classifications === undefined ? "all changes" : `${classifications.join(", ")} changes`,
    servers === undefined ? "of all servers" : `of ${servers.join(", ")}`,
    kinds === undefined ? "" : `to ${kinds.join(", ")}`,
  ];
  return parts.filter((part) => part !== "").join(" ");
}
