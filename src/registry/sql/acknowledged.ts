import type { AcknowledgedFlag } from "../contract.ts";

/** Flags of a server that an admin has acknowledged. Their number is bounded when they are added: heads carry them. */
export function acknowledgedFlags(sql: SqlStorage, server: string): AcknowledgedFlag[] {
  const rows = sql.exec<Row>(
    "SELECT digest, rule, path, message, of, by, at FROM acknowledged_flag WHERE server = ? ORDER BY digest, rule, path, of",
    server,
  );
  return rows.toArray().map(({ of, ...flag }) => ({ ...flag, of: of === "config" ? of : undefined }));
}

interface Row extends Record<string, SqlStorageValue> {
  digest: string;
  rule: AcknowledgedFlag["rule"];
  path: string;
  message: string;
  /** Empty for flags of an item or of the manifest's own fields. */
  of: "" | "config";
  by: string;
  at: string;
}

/** How many flags of one server may be acknowledged. */
const maxAcknowledged = 500;

/** Returns false if the server has as many acknowledged flags as it may have. */
export function acknowledge(sql: SqlStorage, server: string, flag: AcknowledgedFlag): boolean {
  const { count } = sql
    .exec<{ count: number }>("SELECT count(*) AS count FROM acknowledged_flag WHERE server = ?", server)
    .one();
  if (count >= maxAcknowledged) return false;
  sql.exec(
    "INSERT OR REPLACE INTO acknowledged_flag (server, digest, rule, path, message, of, by, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    ...[server, flag.digest, flag.rule, flag.path, flag.message, flag.of ?? "", flag.by, flag.at],
  );
  return true;
}

export function forgetAcknowledgement(
  sql: SqlStorage,
  server: string,
  { digest, rule, path, message, of }: Omit<AcknowledgedFlag, "by" | "at">,
): void {
  sql.exec(
    "DELETE FROM acknowledged_flag WHERE server = ? AND digest = ? AND rule = ? AND path = ? AND message = ? AND of = ?",
    ...[server, digest, rule, path, message, of ?? ""],
  );
}

/** Acknowledgements end with the server; those of a config with any change of it. */
export function forgetAcknowledged(sql: SqlStorage, server: string, of?: "config"): void {
  if (of === undefined) sql.exec("DELETE FROM acknowledged_flag WHERE server = ?", server);
  else sql.exec("DELETE FROM acknowledged_flag WHERE server = ? AND of = ?", server, of);
}
