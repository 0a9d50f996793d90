import { countChanges, diffManifests } from "../domain/diff.ts";
import { matchesEtag } from "../domain/etag.ts";
import type { Head } from "../domain/head.ts";
import type { StoredManifest } from "../domain/stored.ts";
import { notModified, succeed } from "../http/answer.ts";
import { type App, bad, type RequestContext } from "../http/context.ts";
import { type ObjectRead, readObject } from "../http/read-view.ts";
import { parameters, wholeNumber } from "../http/request.ts";
import { Digest, sectionForKind } from "../schemas/index.ts";
import type { Services } from "../services.ts";

const path = "/api/mcp/capabilities/:tenant/:name";

/**
 * What a server used to be: its revisions, any of them whole, and what changed between two. The past belongs to the
 * tenant: a server that is public now may not have been, and what was switched off is still in it.
 */
export function historyRoutes(app: App, services: Services): void {
  app.get(`${path}/revisions`, async (c) => {
    const { ref, permit } = await readHistory(c, services);
    const query = parameters(c, ["limit", "before"]);
    const limit = wholeNumber("limit", query.limit, { min: 1, max: 100, fallback: 30 });
    const before = wholeNumber("before", query.before, { min: 1, max: 1e15, fallback: Number.MAX_SAFE_INTEGER });
    const answer = await services.tenant(ref.tenant).revisions(ref.name, before, limit + 1);
    const { digest: current = null } = permit(answer);
    const { revisions, generation } = answer;
    const items = revisions.slice(0, limit);
    // One more than asked for tells whether there is a next page.
    const next = revisions.length > limit ? { nextBefore: items.at(-1)?.number } : {};
    const data = { current, items, generation, ...next };
    return succeed(c, services, data, { generation, source: "object" });
  });

  app.get(`${path}/revisions/:digest`, async (c) => {
    const read = await readHistory(c, services);
    parameters(c, []);
    const { manifest, revision, generation, head } = await retained(services, read, "digest", c.req.param("digest"));
    // The revision never changes, but what is switched off in it does.
    const meta = { etag: `"${revision.digest}.${head.overlay}"`, generation, source: "object" as const };
    const ifNoneMatch = c.req.header("If-None-Match");
    if (ifNoneMatch !== undefined && matchesEtag(ifNoneMatch, meta.etag)) return notModified(c, services, meta);
    const data = { ...revision, manifest: whole(manifest), capabilities: index(manifest, head) };
    return succeed(c, services, data, meta);
  });

  app.get(`${path}/diff`, async (c) => {
    const read = await readHistory(c, services);
    const query = parameters(c, ["from", "to"]);
    const before = await retained(services, read, "from", query.from);
    const after = await retained(services, read, "to", query.to ?? before.head.digest);
    const changes = diffManifests(read.ref.name, before.manifest, after.manifest).map(({ key, ...change }) => ({
      name: key,
      breaking: change.classification === "breaking" || change.classification === "removed",
      ...change,
    }));
    const [from, to] = [before.manifest.digest, after.manifest.digest];
    const data = { from, to, counts: countChanges(changes), changes };
    return succeed(c, services, data, { generation: after.generation, source: "object" });
  });

  for (const route of [`${path}/revisions`, `${path}/revisions/:digest`, `${path}/diff`]) {
    app.all(route, () => {
      throw bad("ErrorMethodNotAllowed", undefined, { allow: "GET, HEAD" });
    });
  }
}

async function readHistory(c: RequestContext, services: Services): Promise<ObjectRead> {
  const read = await readObject(c, services);
  if (read.outsider) throw bad("ErrorTenantPermissionError");
  return read;
}

/**
 * A revision of this very server, by the digest in a parameter: one that only another server published is not found.
 * Permission comes first, so whoever may not read the server does not learn what is wrong with the digest.
 */
async function retained(services: Services, { ref, permit }: ObjectRead, parameter: string, value: string | undefined) {
  const { revision, ...answer } = await services.tenant(ref.tenant).revision(ref.name, value ?? "");
  const head = permit(answer);
  const digest = Digest.safeParse(value);
  if (!digest.success) {
    const reason = value === undefined ? "is required: a digest" : digest.error.issues[0]?.message;
    throw bad("ErrorBadRequest", `${parameter} ${reason}`);
  }
  const body = revision && (await services.bodies.get(ref, digest.data));
  if (revision === undefined || body === undefined) throw bad("ErrorRevisionNotFound");
  return { head, revision, generation: answer.generation, manifest: body.manifest };
}

/** Exactly what the digest covers, so that a reader can check it. */
function whole({ header, capabilities }: StoredManifest): Record<string, unknown> {
  const items = Map.groupBy(capabilities, ({ kind }) => sectionForKind(kind));
  return {
    ...header,
    ...Object.fromEntries([...items].map(([section, list]) => [section, list.map(({ declared }) => declared)])),
  };
}

function index({ capabilities }: StoredManifest, head: Head) {
  const off = new Set(head.disabled.map(({ kind, key }) => `${kind} ${key}`));
  return capabilities.map(({ kind, key, id, digest, tokens, flags }) => ({
    kind,
    name: key,
    id,
    digest,
    tokens,
    flags: [...flags, ...head.flags.filter(({ capability }) => capability === id)],
    enabled: !off.has(`${kind} ${key}`),
  }));
}
