import { characterIssues } from "../kernel/characters.ts";
import { type Failure, failure } from "../kernel/failure.ts";
import { type Issue, issueText } from "../kernel/issue.ts";
import type { ServerRef } from "../kernel/names.ts";
import { readJson } from "../kernel/read-json.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { zodIssues } from "../kernel/zod-issues.ts";
import type { Writer, Written } from "../registry/contract.ts";
import type { ServerVersion, VersionOutcome } from "./contract.ts";
import type { OfficialDeps } from "./deps.ts";
import { ServerJson, type StatusUpdate } from "./schema.ts";
import { checkName, claimedUrls, parseOfficialName, withoutForeignMeta } from "./server-json.ts";

/** Publishing and validating a server.json, and changing the status of its versions. */

/** All issues of a document: schema violations first, then rules of this registry. */
export function serverJsonIssues(value: unknown): (Issue & { kind: "schema" | "semantic" })[] {
  const violations = zodIssues(ServerJson, value, "").map((issue) => ({ ...issue, kind: kindOf(issue) }));
  const characters = characterIssues(value, "").map((issue) => ({ ...issue, kind: "semantic" as const }));
  const { name } = (value ?? {}) as { name?: unknown };
  const named = typeof name === "string" && !violations.some(({ path }) => path === "/name");
  const error = named ? checkName(name) : undefined;
  const place = error === undefined ? [] : [{ path: "/name", rule: "tenant", message: error }];
  return [...violations, ...characters, ...place.map((issue) => ({ ...issue, kind: "semantic" as const }))];
}

/** Rules that JSON Schema cannot express count as semantic. */
function kindOf({ rule }: Issue): "schema" | "semantic" {
  return rule === "custom" ? "semantic" : "schema";
}

export function invalidServerJson(issues: readonly Issue[]): Failure {
  const [first] = issues;
  const reason = first === undefined ? "" : `: ${issueText(first)}`;
  return failure("ErrorServerJsonInvalid", `The server.json is not valid${reason}`, { issues: issues.slice(0, 100) });
}

/** Publishes a server.json. The caller has validated the document and checked the writer's permission. */
export async function publishServerJson(
  services: OfficialDeps,
  writer: Writer,
  submitted: ServerJson,
): Promise<Result<{ version: ServerVersion; generation: number }, Failure>> {
  const document = withoutForeignMeta(submitted);
  const server = parseOfficialName(document.name);
  const published = await withClaimedRemotes(services, server, claimedUrls(document), () =>
    services.tenant(server.tenant).publishVersion(writer, { name: server.name, document }),
  );
  if (!published.ok) return published;
  const { head, versions, generation } = published.value;
  await services.heads.confirm(head);
  const [version] = versions;
  if (version === undefined) return err(failure("ErrorInternalServer"));
  return ok({ version, generation });
}

/**
 * Changes the status of versions. A restored version must claim its remotes again, because another server may have
 * claimed them meanwhile.
 */
export async function changeVersions(
  services: OfficialDeps,
  writer: Writer,
  server: ServerRef,
  /** One version; undefined for all. */
  only: string | undefined,
  update: StatusUpdate,
): Promise<Result<VersionOutcome, Failure>> {
  const tenant = services.tenant(server.tenant);
  const returning = update.status === "deleted" ? [] : await tenant.versions(server.name);
  const urls = returning
    .filter(({ version, status }) => status === "deleted" && (only === undefined || version === only))
    .flatMap(({ document }) => claimedUrls(readJson(document) as ServerJson));
  const changed = await withClaimedRemotes(services, server, [...new Set(urls)], () =>
    tenant.changeStatus(writer, server.name, only, update),
  );
  if (changed.ok) await services.heads.confirm(changed.value.head);
  return changed;
}

/** Claims the URLs before the write, so that of two concurrent publications with the same URL only one succeeds. */
async function withClaimedRemotes(
  services: OfficialDeps,
  server: ServerRef,
  urls: readonly string[],
  write: () => Promise<Written<VersionOutcome>>,
): Promise<Written<VersionOutcome>> {
  const taken = urls.length === 0 ? undefined : await services.directory().claimRemotes(server, urls);
  if (taken !== undefined) {
    const message = `remote URL ${taken.url} is already used by ${taken.by === undefined ? "another server" : `server ${taken.by}`}; a URL can belong to one server`;
    return err(failure("ErrorRemoteTaken", message));
  }
  const written = await write();
  // After a successful write the directory replaces the claims when it receives the version; a refused write releases
  // them.
  if (!written.ok && urls.length > 0) {
    await services.directory().releaseClaims(server, urls);
  }
  return written;
}
