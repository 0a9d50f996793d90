import { type Failure, failure } from "../kernel/failure.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import type { AcceptedManifest, PreparedCapability } from "../manifest/prepare.ts";
import type { RegistryTenant } from "./contract.ts";

/** Characters of items that one call carries. Copying them takes about 20 ms on each side. */
const charactersPerCall = 512 * 1024;

/** Sends the items of a large manifest ahead of it, in batches: copying one argument holds both sides. */
export async function sendManifest(
  tenant: Pick<RegistryTenant, "sendItems">,
  manifest: AcceptedManifest,
): Promise<Result<AcceptedManifest, Failure>> {
  const { capabilities } = manifest;
  const characters = capabilities.reduce((sum, { text }) => sum + text.length, 0);
  if (characters <= 2 * charactersPerCall) return ok(manifest);
  const transfer = crypto.randomUUID();
  for (const batch of batches(capabilities)) {
    if (!(await tenant.sendItems(transfer, batch))) return err(failure("ErrorUnavailable"));
  }
  return ok({ ...manifest, capabilities: [], transfer });
}

function* batches(items: readonly PreparedCapability[]): Generator<PreparedCapability[]> {
  let batch: PreparedCapability[] = [];
  let characters = 0;
  for (const item of items) {
    batch.push(item);
    characters += item.text.length;
    if (characters < charactersPerCall) continue;
    yield batch;
    [batch, characters] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}
