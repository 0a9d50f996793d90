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
import { jsonSchemaIssues, schemaVersionIssues, semanticIssues } from "./rules.ts";
import { ServerJson, type StatusUpdate, withoutNulls } from "./schema.ts";
import { checkName, claimedUrls, parseOfficialName } from "./server-json.ts";

/** Publishing and validating a server.json, and changing the status of its versions. */

export interface ServerJsonIssue extends Issue {
  kind: "schema" | "semantic";
  severity: "error" | "warning";
}

/** The document as it is checked and stored. */
export function readServerJson(value: unknown): ServerJson {
  return withoutNulls(value) as ServerJson;
}

/**
 * All issues of a document: of its shape and, if that is valid, of the official registry's rules and of this registry's. To
 * validate checks more than to publish, as it does there.
 */
export function serverJsonIssues(document: unknown, purpose: "publish" | "validate"): ServerJsonIssue[] {
  const shape = zodIssues(ServerJson, document, "").map((issue) => ofKind(issue, "schema"));
  const characters = characterIssues(document, "").map((issue) => ofKind(issue, "semantic"));
  // Rules read members that the shape promises; `$schema` is missing so often that it must not hide everything else.
  if (shape.some(({ path }) => path !== "/$schema")) return [...shape, ...characters];
  const valid = document as ServerJson;
  const named = shape.length > 0 ? [] : schemaVersionIssues(valid.$schema);
  const error = checkName(valid.name);
  const place = error === undefined ? [] : [{ path: "/name", rule: "tenant", message: error }];
  const semantic = semanticIssues(valid);
  return [
    ...shape,
    ...named.map((issue) => ({ ...issue, kind: "semantic" as const })),
    ...(purpose === "validate" && shape.length === 0 ? jsonSchemaIssues(valid) : []).map((issue) =>
      ofKind(issue, "schema"),
    ),
    ...semantic.map((issue) => ofKind(issue, "semantic")),
    ...characters,
    ...(semantic.some(({ path }) => path === "/name") ? [] : place).map((issue) => ofKind(issue, "semantic")),
  ];
}

function ofKind(issue: Issue, kind: ServerJsonIssue["kind"]): ServerJsonIssue {
  return { ...issue, kind, severity: "error" };
}

/** What the official registry checks at publish by asking package registries, which this registry does not. */
export function notChecked({ packages, name }: ServerJson): { path: string; message: string }[] {
  if (!Array.isArray(packages)) return [];
  return packages.map(({ registryType, identifier }, at) => ({
    path: `packages[${at}]`,
    message: `Not checked, as it needs the network: that ${registryType} has ${identifier} and that it names ${name} as its server`,
  }));
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
  document: ServerJson,
): Promise<Result<{ version: ServerVersion; generation: number }, Failure>> {
  const server = parseOfficialName(document.name);
  const published = await withClaimedRemotes(services, server, claimedUrls(document), () =>
    services.tenant(server.tenant).publishVersion(writer, { name: server.name, document }),
  );
  if (!published.ok) return published;
  const { head, versions, generation, directory } = published.value;
  await services.heads.confirm(head, directory);
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
  if (changed.ok) await services.heads.confirm(changed.value.head, changed.value.directory);
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
