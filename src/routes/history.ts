import { countChanges, diffManifests } from "../domain/diff.ts";
import { matchesEtag } from "../domain/etag.ts";
import type { StoredManifest } from "../domain/stored.ts";
import { notModified, succeed } from "../http/answer.ts";
import { type App, bad } from "../http/context.ts";
import { type Readable, readServer } from "../http/read-view.ts";
import { parameters, wholeNumber } from "../http/request.ts";
import { Digest, sectionForKind } from "../schemas/index.ts";
import type { Services } from "../services.ts";

const path = "/api/mcp/capabilities/:tenant/:name";

/** What a server used to be: its revisions, any of them whole, and what changed between two. */
export function historyRoutes(app: App, services: Services): void {
  app.get(`${path}/revisions`, async (c) => {
    const { ref, head } = await readServer(c, services);
    const query = parameters(c, ["limit", "before"]);
    const limit = wholeNumber("limit", query.limit, { min: 1, max: 100, fallback: 30 });
    const before = wholeNumber("before", query.before, { min: 1, max: 1e15, fallback: Number.MAX_SAFE_INTEGER });
    services.operations.objectCalls += 1;
    const { revisions, generation } = await services.tenant(ref.tenant).revisions(ref.name, before, limit);
    const last = revisions.at(-1);
    const more = revisions.length === limit && last !== undefined && last.number > 1;
    const data = {
      current: head.digest ?? null,
      items: revisions,
      generation,
      ...(more ? { nextBefore: last.number } : {}),
    };
    return succeed(c, services, data, { generation, source: "object" });
  });

  app.get(`${path}/revisions/:digest`, async (c) => {
    const readable = await readServer(c, services);
    parameters(c, []);
    const digest = digestOf("digest", c.req.param("digest"));
    const { manifest, revision, generation } = await retained(services, readable, digest);
    const meta = { etag: `"${digest}"`, generation, source: "object" as const };
    const ifNoneMatch = c.req.header("If-None-Match");
    if (ifNoneMatch !== undefined && matchesEtag(ifNoneMatch, meta.etag)) return notModified(c, services, meta);
    return succeed(
      c,
      services,
      { ...revision, manifest: whole(manifest), capabilities: index(manifest, readable) },
      meta,
    );
  });

  app.get(`${path}/diff`, async (c) => {
    const readable = await readServer(c, services);
    const query = parameters(c, ["from", "to"]);
    const from = digestOf("from", query.from);
    const to = digestOf("to", query.to ?? readable.head.digest);
    const [before, after] = [await retained(services, readable, from), await retained(services, readable, to)];
    const changes = diffManifests(readable.ref.name, before.manifest, after.manifest).map(({ key, ...change }) => ({
      name: key,
      breaking: change.classification === "breaking" || change.classification === "removed",
      ...change,
    }));
    const data = { from, to, counts: countChanges(changes), changes };
    return succeed(c, services, data, { generation: after.generation, source: "object" });
  });

  for (const route of [`${path}/revisions`, `${path}/revisions/:digest`, `${path}/diff`]) {
    app.all(route, () => {
      throw bad("ErrorMethodNotAllowed", undefined, { allow: "GET, HEAD" });
    });
  }
}

function digestOf(name: string, value: string | undefined): string {
  const parsed = Digest.safeParse(value);
  if (!parsed.success)
    throw bad(
      "ErrorBadRequest",
      `${name} ${value === undefined ? "is required: a digest" : parsed.error.issues[0]?.message}`,
    );
  return parsed.data;
}

/** A revision of this very server: a digest that only another server published is not found. */
async function retained(services: Services, { ref }: Readable, digest: string) {
  services.operations.objectCalls += 1;
  const { revision, generation } = await services.tenant(ref.tenant).revision(ref.name, digest);
  const body = revision && (await services.bodies.get(ref.tenant, digest));
  if (revision === undefined || body === undefined) throw bad("ErrorRevisionNotFound");
  return { revision, generation, manifest: body.manifest };
}

/** Exactly what the digest covers, so that a reader can check it. */
function whole({ header, capabilities }: StoredManifest): Record<string, unknown> {
  const items = Map.groupBy(capabilities, ({ kind }) => sectionForKind(kind));
  return {
    ...header,
    ...Object.fromEntries([...items].map(([section, list]) => [section, list.map(({ declared }) => declared)])),
  };
}

function index({ capabilities }: StoredManifest, { head }: Readable) {
  const off = new Set(head.disabled.map(({ kind, key }) => `${kind} ${key}`));
  return capabilities.map(({ kind, key, id, digest, tokens, flags }) => ({
    kind,
    name: key,
    id,
    digest,
    tokens,
    flags,
    enabled: !off.has(`${kind} ${key}`),
  }));
}
