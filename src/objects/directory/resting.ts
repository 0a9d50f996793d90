/**
 * Tenants that last wrote before the directory had an index or a catalogue, and have not been woken since: public servers
 * whose capabilities or versions never came, and servers that never said what they are found by.
 */
export function restingTenants(sql: SqlStorage, after: string, limit: number): string[] {
  return sql
    .exec<{ tenant: string }>(
      `SELECT tenant FROM (
         SELECT DISTINCT server.tenant FROM server LEFT JOIN indexed_server
           ON indexed_server.tenant = server.tenant AND indexed_server.name = server.name
         WHERE server.public = 1 AND server.entry IS NOT NULL AND server.tenant > ?1
           AND ((indexed_server.tenant IS NULL AND json_extract(server.entry, '$.digest') IS NOT NULL)
             OR NOT EXISTS (SELECT 1 FROM server_version WHERE name = server.tenant || '/' || server.name))
         ORDER BY server.tenant LIMIT ?2
       )
       UNION SELECT tenant FROM (SELECT DISTINCT tenant FROM listing WHERE told = 0 AND tenant > ?1 ORDER BY tenant LIMIT ?2)
       ORDER BY 1 LIMIT ?2`,
      after,
      limit,
    )
    .toArray()
    .map(({ tenant }) => tenant);
}
