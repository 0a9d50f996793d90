/**
 * Number of what an embedded server keeps in its data directory: the migration steps of tenants and directory together, as
 * a test compares. A server that finds a higher number says at start that it only reads what is newer; the objects refuse
 * writes by themselves.
 */
export const dataFormat = 19;
