/** The longest any data centre may show what was true before a write. docs/freshness.md says how it adds up. */
export const everywhereWithinMs = 80_000;

/** By when something taken away is gone everywhere. */
export function effectiveBy(now: number): string {
  return new Date(now + everywhereWithinMs).toISOString();
}
