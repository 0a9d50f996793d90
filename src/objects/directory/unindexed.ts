/**
 * Public servers whose capabilities or versions never came: their tenants last wrote before the directory had a place for
 * them, and have not been woken since.
 */
export function unindexedTenants(sql: SqlStorage, after: string, limit: number): string[] {
  return sql
    .exec<{ tenant: string }>(
      `SELECT DISTINCT server.tenant FROM server LEFT JOIN indexed_server
         ON indexed_server.tenant = server.tenant AND indexed_server.name = server.name
       WHERE server.public = 1 AND server.entry IS NOT NULL AND server.tenant > ?
         AND ((indexed_server.tenant IS NULL AND json_extract(server.entry, '$.digest') IS NOT NULL)
           OR NOT EXISTS (SELECT 1 FROM server_version WHERE name = server.tenant || '/' || server.name))
       ORDER BY server.tenant LIMIT ?`,
      after,
      limit,
    )
    .toArray()
    .map(({ tenant }) => tenant);
}
