import type { Principal } from "../auth/principal.ts";
import type { Failure } from "../kernel/failure.ts";
import type { TenantKey } from "../kernel/names.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { checkMember, checkMinGeneration } from "../registry/access.ts";
import { type ChainedChange, genesisOf, type LogHead } from "../registry/change-chain.ts";
import type { ChangesDeps } from "./deps.ts";

/** Log entries of a tenant, oldest first, and the sequence number to continue from. */
interface ChangePage {
  items: ChainedChange[];
  generation: number;
  nextSince: number;
  /** Head of the log: a reader that has read all entries must have computed this hash. */
  head: LogHead;
}

export async function readChanges(
  services: ChangesDeps,
  principal: Principal,
  tenant: TenantKey,
  { since, limit }: { since: number; limit: number },
  minGeneration = 0,
): Promise<Result<ChangePage, Failure>> {
  const error = checkMember(principal, tenant);
  if (error !== undefined) return err(error);
  const { changes: items, generation, head } = await services.tenant(tenant).changes(since, limit);
  const behind = checkMinGeneration(minGeneration, generation);
  if (behind !== undefined) return err(behind);
  return ok({ items, generation, nextSince: items.at(-1)?.sequence ?? since, head: head ?? startOf(tenant) });
}

function startOf(tenant: TenantKey): LogHead {
  return { sequence: 0, hash: genesisOf(tenant) };
}
