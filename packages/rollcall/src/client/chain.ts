import { digestOf } from "../../../../src/kernel/digest.ts";
import { RollcallError } from "./errors.ts";
import type { components } from "./types.ts";

export type Change = components["schemas"]["ChainedChange"];

/** The log was edited, cut or replaced: an entry does not follow the one before it. */
export class ChainBroken extends RollcallError {
  readonly sequence: number;

  constructor(sequence: number, reason: string) {
    super("ErrorChainBroken", `The log breaks at entry ${sequence}: ${reason}`, {
      hint: "Someone changed the past. Ask the operator, and review what you pinned.",
    });
    this.sequence = sequence;
  }
}

/** The `previous` of a tenant's first entry. */
export const genesis = (tenant: string) => `genesis:${tenant.toLowerCase()}`;

/** Throws unless the entry hashes to what it says and follows `previous`, where that is known. */
export async function checkLink(entry: Change, previous: string | undefined): Promise<void> {
  if (previous !== undefined && entry.previous !== previous) {
    throw new ChainBroken(entry.sequence, "it does not follow the entry before it");
  }
  const { hash, ...rest } = entry;
  if ((await digestOf(rest)) !== hash) throw new ChainBroken(entry.sequence, "its content is not what was hashed");
}
