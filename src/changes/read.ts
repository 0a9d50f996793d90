import type { Principal } from "../auth/principal.ts";
import { type Failure, failure } from "../kernel/failure.ts";
import type { TenantKey } from "../kernel/names.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { checkMember, checkMinGeneration } from "../registry/access.ts";
import { genesisOf, type LogHead } from "../registry/change-chain.ts";
import type { ChangesDeps } from "./deps.ts";
import type { ChangePage } from "./schema.ts";

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

/** Where a stream of the log starts, with the tenant's generation. */
export async function checkPosition(
  services: ChangesDeps,
  principal: Principal,
  tenant: TenantKey,
  since: number,
  minGeneration = 0,
): Promise<Result<{ generation: number }, Failure>> {
  const read = await readChanges(services, principal, tenant, { since, limit: 1 }, minGeneration);
  if (!read.ok) return read;
  const { sequence } = read.value.head;
  if (since <= sequence) return ok({ generation: read.value.generation });
  // Such a stream would be silent until the log has grown that far, and then miss the entries before.
  return err(
    failure("ErrorBadRequest", `\`since\` is ${since}, but the log ends at sequence ${sequence}`, { sequence }),
  );
}

function startOf(tenant: TenantKey): LogHead {
  return { sequence: 0, hash: genesisOf(tenant) };
}
