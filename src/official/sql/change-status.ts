import { type Failure, failure } from "../../kernel/failure.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import type { ServerState } from "../../registry/contract.ts";
import { findLive } from "../../registry/sql/servers.ts";
import { setServerStatus } from "../../registry/sql/status.ts";
import { shownTenant } from "../../registry/sql/tenant-name.ts";
import type { ServerVersion, VersionOutcome } from "../contract.ts";
import type { StatusUpdate } from "../schema.ts";
import { latestOf } from "../version-order.ts";
import { checkPrivate, logVersionChange, type VersionContext } from "./publish-version.ts";
import { forgetStatusBefore, listVersions, rememberStatus, setStatus, updateLatest } from "./tenant-versions.ts";

/**
 * Changes the status of one version or of all versions. Runs inside a transaction, so all change or none. The server
 * follows its latest version, and is withdrawn with its last one. Content stays: another version may become the latest,
 * but the manifest is what was published last.
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
  if (findLive(sql, name) === undefined) return err(failure("ErrorVersionNotFound", "Server version not found"));
  const before = listVersions(sql, name);
  const wanted = before.filter(({ version }) => only === undefined || version === only);
  if (wanted.length === 0) {
    if (only !== undefined && before.length > 0) {
      return err(failure("ErrorVersionNotFound", "Server version not found"));
    }
    const message = `${shownTenant(sql)}/${name} has no server.json versions. Change \`status\` in its config (PATCH /api/mcp/configs/${shownTenant(sql)}/${name})`;
    return err(failure("ErrorVersionDerived", message));
  }
  const changing = wanted.filter(
    ({ status, statusMessage }) => status !== update.status || statusMessage !== update.statusMessage,
  );
  if (changing.length === 0) {
    return err(failure("ErrorNoChange", "No changes to apply: the version already has this status and message"));
  }
  const numbers = new Set(changing.map(({ version }) => version));
  const after = before.map((version) =>
    numbers.has(version.version) ? { ...version, status: update.status, statusMessage: update.statusMessage } : version,
  );
  const isWithdrawn = after.every(({ status }) => status === "deleted");
  const wasWithdrawn = before.every(({ status }) => status === "deleted");

  const message = `${only === undefined ? "all versions" : `version ${only}`} set to ${update.status}`;
  const generation = logVersionChange(work, name, message, "advisory");
  if (!isWithdrawn) forgetStatusBefore(sql, name);
  for (const version of changing) {
    setStatus(sql, name, version.version, update, { at, generation });
    // The whole server is withdrawn by this: these versions return with it.
    if (isWithdrawn && !wasWithdrawn) rememberStatus(sql, name, version.version, version);
  }
  updateLatest(sql, name, at, generation);
  const concerned = [latestOf(before), latestOf(after)].some((latest) => latest?.version === only);
  if (only === undefined || concerned) setServerStatus(work.write, name, stateAfter(after, update), { at, generation });
  return ok({ generation, versions: listVersions(sql, name).filter(({ version }) => numbers.has(version)) });
}

/** The state of a server that follows its versions. */
function stateAfter(versions: readonly ServerVersion[], { statusMessage }: StatusUpdate): ServerState {
  const latest = latestOf(versions);
  if (latest === undefined || latest.status === "deleted") return { status: "withdrawn", statusMessage };
  if (latest.status === "deprecated") return { status: "deprecated", statusMessage: latest.statusMessage };
  return { status: "active" };
}
