/**
 * Number of what an embedded server keeps in its data directory: the migration steps of tenants and of the directory. A
 * test compares it. A server that finds a higher number reads, and says so.
 */
export const dataFormat = 13;
