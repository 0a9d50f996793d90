import { type Failure, failure } from "../../kernel/failure.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import type { FlagRule } from "../../manifest/flag.ts";
import { acknowledge, forgetAcknowledgement } from "../../registry/sql/acknowledged.ts";
import { type LoggedChange, recordChanges } from "../../registry/sql/change-log.ts";
import type { WriteContext } from "../../registry/sql/listener.ts";
import { loggedFlags } from "../../registry/sql/log/change-records.ts";
import { bumpOverlay, findLive } from "../../registry/sql/servers.ts";
import { stateOfRow } from "../../registry/sql/status.ts";
import type { AcknowledgeOutcome, AcknowledgeRequest } from "../contract.ts";
import type { FlaggedContent } from "../schema.ts";
import { flaggedOf } from "./flagged.ts";

/** Accepts a flag of the content with this digest, or takes that back. Runs inside a transaction. */
export function acknowledgeFlag(
  { sql, keep, listener }: WriteContext,
  server: string,
  { digest, rule, path, acknowledged }: AcknowledgeRequest,
  { at, subject }: { at: string; subject: string },
): Result<AcknowledgeOutcome, Failure> {
  const row = findLive(sql, server);
  if (row === undefined) return err(failure("ErrorMCPServerNotFound"));
  const isMeant = (flag: FlaggedContent["flags"][number]) => flag.rule === rule && flag.path === path;
  const find = () => flaggedOf(sql, row).find((content) => content.digest === digest && content.flags.some(isMeant));
  const before = find();
  const flag = before?.flags.find(isMeant);
  if (before === undefined || flag === undefined) return err(failure("ErrorFlagNotFound"));
  if (acknowledged && flag.rule === "more-flags") {
    return err(
      failure("ErrorFlagNotFound", "Flags that are not listed cannot be acknowledged: the text must be reworded"),
    );
  }
  if ((flag.acknowledged !== undefined) === acknowledged) {
    return ok({ generation: row.generation, changed: false, content: before });
  }
  const key = { digest, rule: flag.rule as FlagRule, path, message: flag.message, of: flag.of };
  if (!acknowledged) forgetAcknowledgement(sql, server, key);
  else if (!acknowledge(sql, server, { ...key, by: subject, at })) return err(failure("ErrorTooManyAcknowledged"));
  const { kind, name } = before;
  const isItem = kind !== "server" && kind !== "config";
  const message = `flag ${rule} ${acknowledged ? "acknowledged" : "no longer acknowledged"} by ${subject}`;
  const change: LoggedChange = {
    kind: isItem ? kind : "server",
    key: name,
    classification: "advisory",
    reasons: [{ path, classification: "advisory", message }],
  };
  const content = find() ?? before;
  const flags = content.flags.slice(0, loggedFlags);
  const { status, statusMessage } = stateOfRow(row);
  const record = { tokens: tokensOf(sql, server, content), flags, status, statusMessage };
  const { generation } = recordChanges(sql, server, at, [{ ...change, registry: record }], keep.changes);
  bumpOverlay(sql, server, generation, at);
  if (isItem) listener.itemsChanged(server, [{ kind, key: name }]);
  return ok({ generation, changed: true, content });
}

function tokensOf(sql: SqlStorage, server: string, { kind, digest }: FlaggedContent): number {
  const row = sql
    .exec<{ tokens: number }>(
      "SELECT tokens FROM capability WHERE server = ? AND kind = ? AND digest = ?",
      ...[server, kind, digest],
    )
    .toArray()[0];
  return row?.tokens ?? 0;
}
