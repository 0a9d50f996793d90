import { readJson } from "../../kernel/read-json.ts";
import { classifyCapability, createBudget } from "../../manifest/classify/classify.ts";
import { findCapability } from "../../registry/sql/items.ts";
import { findLive } from "../../registry/sql/servers.ts";
import type { PinComparison } from "../contract.ts";

/** Limit of one request: the tenant's object does nothing else meanwhile. */
const steps = 200_000;

/** One comparison per pin; undefined if the capability is not visible or the pinned version is no longer stored. */
export function comparePins(
  sql: SqlStorage,
  pins: readonly { id: string; digest: string }[],
  onlyPublic: boolean,
): (PinComparison | undefined)[] {
  const budget = createBudget(steps);
  return pins.map(({ id, digest }) => {
    const present = findCapability(sql, id);
    if (present === undefined) return undefined;
    const { server, capability } = present;
    if (onlyPublic && findLive(sql, server)?.visibility !== "public") return undefined;
    const pinned = sql
      .exec<{ declared: string }>(
        "SELECT declared FROM capability WHERE server = ? AND kind = ? AND digest = ?",
        server,
        capability.kind,
        digest,
      )
      .toArray()[0];
    if (pinned === undefined) return undefined;
    const { classification, reasons } = classifyCapability(
      readJson(pinned.declared) as Record<string, unknown>,
      capability.declared,
      budget,
    );
    // Reasons reveal past content, which only members may read.
    return { classification, breaking: classification === "breaking", reasons: onlyPublic ? [] : reasons };
  });
}
