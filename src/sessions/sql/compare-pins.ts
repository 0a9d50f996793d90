import { classifyCapability, createBudget } from "../../manifest/classify/classify.ts";
import { findCapability } from "../../registry/sql/items.ts";
import { findLive } from "../../registry/sql/servers.ts";
import type { PinComparison } from "../contract.ts";

/** A reader waits, and with it the tenant. */
const steps = 200_000;

/** One verdict a pin, undefined where the pinned version is no longer kept. */
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
    const { classification, reasons } = classifyCapability(JSON.parse(pinned.declared), capability.declared, budget);
    // Why is told to those who may read the past.
    return { classification, breaking: classification === "breaking", reasons: onlyPublic ? [] : reasons };
  });
}
