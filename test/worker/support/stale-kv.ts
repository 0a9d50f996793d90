/**
 * KV as a data centre sees it: what it read once, a miss included, it shows for up to a minute whatever was written
 * since. The simulator is never stale, so this stands in front of it.
 */
export function staleKv(kv: KVNamespace, now: () => number, staleMs = 60_000): KVNamespace {
  const seen = new Map<string, { value: unknown; at: number }>();
  const get = async (key: string, options?: unknown) => {
    const known = seen.get(key);
    if (known !== undefined && now() - known.at < staleMs) return known.value;
    const value = await kv.get(key, options as "json");
    seen.set(key, { value, at: now() });
    return value;
  };
  return { get } as unknown as KVNamespace;
}

/** A data centre's Cache API: its own entries, nobody else's. */
export function separateCache(): Pick<Cache, "match" | "put"> {
  const entries = new Map<string, ArrayBuffer>();
  return {
    match: async (key) => {
      const bytes = entries.get(String(key));
      return bytes === undefined ? undefined : new Response(bytes);
    },
    put: async (key, response) => {
      entries.set(String(key), await response.arrayBuffer());
    },
  };
}
