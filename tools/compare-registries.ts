import { isDeepStrictEqual, parseArgs } from "node:util";

/**
 * Asks two registries that speak the official API the same questions and prints where they answer differently. For the
 * official registry and this one with the same servers in both; see docs/reference/official-registry.md. Only on this machine,
 * at most 2,000 servers.
 */

const { positionals } = parseArgs({ allowPositionals: true });
const [theirs = "", ours = ""] = positionals.map((text) => URL.parse(text)?.origin ?? "");
for (const origin of [theirs, ours]) {
  if (!/^(localhost|127\.0\.0\.1)$/.test(URL.parse(origin)?.hostname ?? "")) {
    console.error(
      "Usage: node tools/compare-registries.ts http://127.0.0.1:PORT http://127.0.0.1:PORT (this machine only)",
    );
    process.exit(2);
  }
}

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: whatever a registry answers
  body: any;
}

interface Entry {
  server: { name: string; version: string };
  _meta: Record<string, Record<string, unknown>>;
}

async function ask(origin: string, path: string): Promise<Answer> {
  const response = await fetch(origin + path, { redirect: "manual" });
  return { status: response.status, body: await response.json().catch(() => undefined) };
}

const mostPages = 20;

async function listAll(origin: string): Promise<Map<string, Entry>> {
  const found = new Map<string, Entry>();
  let cursor: string | undefined = "";
  for (let page = 0; cursor !== undefined && page < mostPages; page += 1) {
    const { body } = await ask(origin, `/v0.1/servers?limit=100&cursor=${encodeURIComponent(cursor)}`);
    for (const entry of body.servers as Entry[]) found.set(keyOf(entry), entry);
    cursor = body.metadata.nextCursor;
  }
  return found;
}

function keyOf({ server: { name, version } }: Entry): string {
  return `${name} ${version}`;
}

/** An entry without what must differ: times, and what only one of the two knows. */
function comparable({ server, _meta }: Entry): unknown {
  const { status, isLatest } = _meta["io.modelcontextprotocol.registry/official"] ?? {};
  return { server, status, isLatest };
}

let differences = 0;
function report(what: string, there: unknown, here: unknown): void {
  if (isDeepStrictEqual(there, here)) return;
  differences += 1;
  console.log(
    `${what}\n  there ${JSON.stringify(there)?.slice(0, 300)}\n  here  ${JSON.stringify(here)?.slice(0, 300)}`,
  );
}

const [there, here] = [await listAll(theirs), await listAll(ours)];
report("number of versions", there.size, here.size);
for (const [key, entry] of there) {
  const other = here.get(key);
  report(`listed: ${key}`, comparable(entry), other && comparable(other));
}

const names = [...new Set([...there.values()].map(({ server }) => server.name))];
for (const name of names) {
  const path = `/v0.1/servers/${encodeURIComponent(name)}/versions`;
  for (const asked of [path, `${path}/latest`, `${path}/9.9.9-none`]) {
    const [one, two] = [await ask(theirs, asked), await ask(ours, asked)];
    const entries = ({ status, body }: Answer) =>
      status === 200 ? ((body.servers ?? [body]) as Entry[]).map(comparable) : status;
    report(asked, entries(one), entries(two));
  }
}

const queries = [
  ...["limit=0", "limit=101", "limit=ten", "limit=", "limit=1.5", "limit=05", "limit=10&limit=20", "limit=1e1"],
  ...["cursor=", "cursor=nonsense", "cursor=%00", "q=weather", "query=weather", "filter=weather", "_=1&t=x"],
  ...["updated_since=yesterday", "updated_since=2025-01-01", "updated_since=2025-01-01T00:00:00Z", "updated_since="],
  ...["updated_since=2025-01-01T00:00:00.123456789Z", "updated_since=2025-01-01T00:00:00%2B02:00"],
  ...[
    "updated_since=2025-01-01T00:00:00+02:00",
    "updated_since=2025-01-01t00:00:00z",
    "updated_since=2025-02-30T00:00:00Z",
  ],
  ...["updated_since=2199-01-01T00:00:00Z", "updated_since=2025-01-01T00:00:00Z&include_deleted=false"],
  ...["search=ab", "search=%20ab%20", "search=", "search=mcp", "search=MCP-SERVER", "search=%25%25%25", "search=___"],
  ...["include_deleted=maybe", "include_deleted=1", "include_deleted=", "version=latest", "version=9.9.9", "version="],
  ...["search=github&version=latest&limit=100", "search=weather&limit=100"],
];
for (const query of queries) {
  const path = `/v0.1/servers?${query}`;
  const [one, two] = [await ask(theirs, path), await ask(ours, path)];
  const rows = ({ status, body }: Answer) =>
    status === 200 ? [status, body.metadata.count, "nextCursor" in body.metadata] : [status];
  report(path, rows(one), rows(two));
}
for (const path of [
  "/v0.1/servers/nothing/versions",
  "/v0.1/servers/a%2Fb%2Fc/versions",
  "/v0.1/nothing",
  "/v0.1/ping",
]) {
  report(path, (await ask(theirs, path)).status, (await ask(ours, path)).status);
}
console.log(`${differences} differences in ${3 * names.length + queries.length + there.size + 5} answers`);
