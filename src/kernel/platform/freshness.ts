/**
 * How long an answer may go on being given after what it was made from has changed (docs/explanation/freshness.md). One
 * place, because the contract is about all caches together.
 */

/** In an isolate's memory. */
export const freshMs = 2_000;
/** A head in a data centre's cache. */
export const edgeMs = 15_000;
/** The object is asked this often whether a head or the copy of the directory is current; only while there are readers. */
export const confirmMs = 60_000;
/** KV may show any past: what was not confirmed for this long is not used. With the memory's 2 s and what waits, 80 s hold. */
export const trustMs = 75_000;
