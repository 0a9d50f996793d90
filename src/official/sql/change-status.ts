import { type Failure, failure } from "../../kernel/failure.ts";
import { readJson } from "../../kernel/read-json.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import { generationOf } from "../../registry/sql/change-log.ts";
import { findLive } from "../../registry/sql/servers.ts";
import { shownTenant } from "../../registry/sql/tenant-name.ts";
import { withdrawServer } from "../../registry/sql/withdraw.ts";
import type { VersionOutcome } from "../contract.ts";
import type { ServerJson, StatusUpdate } from "../schema.ts";
import { latestOf } from "../version-order.ts";
import { applyLatestVersion, checkPrivate, logVersionChange, type VersionContext } from "./publish-version.ts";
import { listVersions, setStatus, updateLatest } from "./tenant-versions.ts";

/**
 * Changes the status of one version or of all versions. Runs inside a transaction, so all change or none. The server
 * follows: it is deprecated with its latest version, withdrawn with its last version, and restored with any.
 */
export function changeStatus(
  work: VersionContext,
  name: string,
  only: string | undefined,
  update: StatusUpdate,
): Result<VersionOutcome, Failure> {
  const { sql, at } = work;
  const error = checkPrivate(work, name);
  if (error !== undefined) return err(error);
  const before = listVersions(sql, name);
  const wanted = before.filter(({ version }) => only === undefined || version === only);
  if (wanted.length === 0) {
    if (findLive(sql, name) === undefined || (only !== undefined && before.length > 0)) {
      return err(failure("ErrorVersionNotFound", "Server version not found"));
    }
    const message = `${shownTenant(sql)}/${name} has no server.json versions. Change \`status\` in its config (PUT /api/mcp/configs)`;
    return err(failure("ErrorVersionDerived", message));
  }
  const changing = wanted.filter(
    ({ status, statusMessage }) => status !== update.status || statusMessage !== update.statusMessage,
  );
  if (changing.length === 0) {
    return err(failure("ErrorNoChange", "No changes to apply: the version already has this status and message"));
  }
  const numbers = new Set(changing.map(({ version }) => version));
  const after = before.map((version) => (numbers.has(version.version) ? { ...version, ...update } : version));
  const latest = latestOf(after);
  const isGone = after.every(({ status }) => status === "deleted");
  const wasGone = before.every(({ status }) => status === "deleted");

  const message = `${only === undefined ? "all versions" : `version ${only}`} set to ${update.status}`;
  if (isGone && !wasGone && findLive(sql, name) !== undefined) {
    withdrawServer(work.write, name, at);
  } else if (!isGone && latest !== undefined) {
    const document = readJson(latest.document) as ServerJson;
    const status = latest.status === "deprecated" ? "deprecated" : "active";
    const moved = applyLatestVersion(work, name, { document, status }, message);
    if (!moved.ok) return moved;
  } else {
    logVersionChange(work, name, message);
  }
  const generation = generationOf(sql);
  for (const version of numbers) setStatus(sql, name, version, update, { at, generation });
  updateLatest(sql, name, at, generation);
  return ok({ generation, versions: listVersions(sql, name).filter(({ version }) => numbers.has(version)) });
}
