/**
 * Number of what an embedded server keeps in its data directory. Raise it in a release that adds migration steps. A server
 * that finds a higher number says at start that it only reads what is newer; the objects refuse writes by themselves.
 */
export const dataFormat = 14;
