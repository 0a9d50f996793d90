import { type App, type RequestContext, requestError, throwIf, unwrap } from "../http/context.ts";
import { authenticate, freshnessOf, integerParam, readQuery, serverRef } from "../http/request.ts";
import { sendConditional, sendData } from "../http/respond.ts";
import { shownFlags } from "../manifest/flag.ts";
import { sectionForKind } from "../manifest/schema/manifest.ts";
import type { StoredManifest } from "../manifest/stored.ts";
import { checkMember, requireReadable } from "./access.ts";
import type { Head } from "./contract.ts";
import type { RegistryDeps } from "./deps.ts";
import { diffRevisions, readRevision } from "./revisions.ts";

const path = "/api/mcp/capabilities/:tenant/:name";

/**
 * The history of a server: list its revisions, read one whole, and compare two. Members only: a public server may have
 * been private before, and revisions contain switched-off items.
 */
export function revisionsRoutes(app: App, services: RegistryDeps): void {
  app.get(`${path}/revisions`, async (c) => {
    const { ref, principal, minGeneration } = await requireMember(c, services);
    const query = readQuery(c, ["limit", "before"]);
    const limit = integerParam("limit", query.limit, { min: 1, max: 100, fallback: 30 });
    const before = integerParam("before", query.before, { min: 1, max: 1e15, fallback: Number.MAX_SAFE_INTEGER });
    const { revisions, generation, head } = await services.tenant(ref.tenant).revisions(ref.name, before, limit + 1);
    const shown = unwrap(requireReadable(principal, ref.tenant, { head, asOf: generation }, minGeneration));
    const { digest: current = null } = shown;
    const items = revisions.slice(0, limit);
    // One row more than requested shows whether there is a next page.
    const next = revisions.length > limit ? { nextBefore: items.at(-1)?.number } : {};
    const data = { current, items, generation, ...next };
    return sendData(c, services, data, { generation, source: "object" });
  });

  app.get(`${path}/revisions/:digest`, async (c) => {
    const { ref, principal, minGeneration } = await requireMember(c, services);
    readQuery(c, []);
    const wanted = { parameter: "digest", value: c.req.param("digest") };
    const retained = unwrap(await readRevision(services, principal, ref, wanted, minGeneration));
    const { manifest, revision, generation, head } = retained;
    // The revision never changes, but which of its items are switched off does.
    const meta = { etag: `"${revision.digest}.${head.overlay}.3"`, generation, source: "object" as const };
    return sendConditional(c, services, meta, () => {
      const data = { ...revision, manifest: digestedContent(manifest), capabilities: index(manifest, head) };
      return sendData(c, services, data, meta);
    });
  });

  app.get(`${path}/diff`, async (c) => {
    const { ref, principal, minGeneration } = await requireMember(c, services);
    const { from, to } = readQuery(c, ["from", "to"]);
    const read = await diffRevisions(services, principal, ref, { from, to }, { minGeneration });
    const { diff, generation } = unwrap(read);
    return sendData(c, services, diff, { generation, source: "object" });
  });

  for (const route of [`${path}/revisions`, `${path}/revisions/:digest`, `${path}/diff`]) {
    app.all(route, () => {
      throw requestError("ErrorMethodNotAllowed", undefined, { allow: "GET, HEAD" });
    });
  }
}

/** Requires a member of the tenant. Others are refused before the rest of the request is validated. */
async function requireMember(c: RequestContext, services: RegistryDeps) {
  const ref = serverRef(c);
  const { minGeneration } = freshnessOf(c);
  const principal = await authenticate(c, services, "registry:read");
  throwIf(checkMember(principal, ref.tenant));
  return { ref, principal, minGeneration };
}

/** Exactly the content that the digest covers, so that a reader can verify it. */
function digestedContent({ header, capabilities }: StoredManifest): Record<string, unknown> {
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
    flags: shownFlags([...flags, ...head.flags.filter(({ capability }) => capability === id)]),
    enabled: !off.has(`${kind} ${key}`),
  }));
}
