import type { Precondition } from "../../kernel/etag.ts";
import { type Failure, failure } from "../../kernel/failure.ts";
import { readJson } from "../../kernel/read-json.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import { generationOf, recordChanges } from "../../registry/sql/change-log.ts";
import { shownTenant } from "../../registry/sql/tenant-name.ts";
import type { AdvertiseOutcome, TenantAdvertise } from "../contract.ts";
import type { AdvertiseSettings } from "../schema.ts";

/** undefined if never set. */
export function advertiseOf(sql: SqlStorage): TenantAdvertise | undefined {
  const row = sql.exec<{ value: string }>("SELECT value FROM meta WHERE key = 'advertise'").toArray()[0];
  return row && (readJson(row.value) as TenantAdvertise);
}

/** Runs inside a transaction. Increments the generation but logs no change, because no server changes. */
export function setAdvertise(
  sql: SqlStorage,
  settings: AdvertiseSettings,
  at: string,
  keepChanges: number,
  precondition?: Precondition,
): Result<AdvertiseOutcome, Failure> {
  const tenant = shownTenant(sql);
  const before = advertiseOf(sql);
  if (precondition !== undefined && !meets(precondition, before)) {
    return err(failure("ErrorPreconditionFailed", "The settings have changed since the version named in If-Match"));
  }
  if (before !== undefined && JSON.stringify(before.settings) === JSON.stringify(settings)) {
    return ok({ tenant, generation: generationOf(sql), since: before.since, changed: false });
  }
  const { generation } = recordChanges(sql, "", at, [], keepChanges);
  const value = JSON.stringify({ settings, since: generation } satisfies TenantAdvertise);
  sql.exec("INSERT INTO meta (key, value) VALUES ('advertise', ?1) ON CONFLICT (key) DO UPDATE SET value = ?1", value);
  return ok({ tenant, generation, since: generation, changed: true });
}

function meets(condition: Precondition, current: TenantAdvertise | undefined): boolean {
  if (condition.kind === "tags") return condition.tags.includes(`advertise.${current?.since ?? 0}`);
  return condition.kind === "present" ? current !== undefined : current === undefined;
}
