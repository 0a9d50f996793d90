import type { ServerConfig } from "../../schemas/index.ts";
import { disown, owe } from "./outbox.ts";
import { readableSources, settleSources } from "./sources.ts";

/** Sources that are new or changed are read at once. */
export function followSources(sql: SqlStorage, { name, sources }: ServerConfig, at: string): void {
  const readable = readableSources(sources);
  if (!settleSources(sql, name, readable, at)) return;
  if (readable.length > 0) owe(sql, "refresh", name);
  else disown(sql, "refresh", name);
}

/** Takes up the sources of every server, which settings had before anything read them. */
export function followAllSources(sql: SqlStorage, at: string): void {
  const servers = sql.exec<{ config: string }>("SELECT config FROM server WHERE deleted_at IS NULL").toArray();
  for (const { config } of servers) followSources(sql, JSON.parse(config) as ServerConfig, at);
}
