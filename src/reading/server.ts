import type { Principal } from "../auth/principal.ts";
import { type Failure, failure } from "../domain/failure.ts";
import { err, ok, type Result } from "../domain/result.ts";
import { type DirectoryEntry, directoryEntry } from "../domain/server-summary.ts";
import type { ServerEntry } from "../objects/tenant/servers.ts";
import type { Services } from "../services.ts";
import type { ServerRef } from "../storage/heads.ts";
import { guardTenant, readableHead } from "./permission.ts";

/** What lists and outsiders see of a server. */
export function summaryOf({ config, summary, head, updatedAt }: ServerEntry): DirectoryEntry {
  const { generation, digest } = head;
  return directoryEntry(config, summary, { generation, updatedAt, ...(digest === undefined ? {} : { digest }) });
}

/** A server with its settings, as its object has it at this very moment: a cached head may still be public. */
export async function readServer(
  services: Services,
  principal: Principal,
  ref: ServerRef,
  minGeneration = 0,
): Promise<Result<{ entry: ServerEntry; generation: number }, Failure>> {
  const objection = await guardTenant(services, principal, ref.tenant);
  if (objection !== undefined) return err(objection);
  const { entry, generation } = await services.tenant(ref.tenant).server(ref.name);
  const head = readableHead(principal, ref.tenant, { head: entry?.head, asOf: generation }, minGeneration);
  if (!head.ok) return head;
  return entry === undefined ? err(failure("ErrorMCPServerNotFound")) : ok({ entry, generation });
}
