import { checkScope, type Principal } from "../../auth/principal.ts";
import { type Failure, failure } from "../../kernel/failure.ts";
import type { ServerRef } from "../../kernel/names.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import { readView } from "../../registry/read.ts";
import { generatorView } from "../../registry/views/generators.ts";
import { namedView } from "../../registry/views/named.ts";
import type { View } from "../../registry/views/view.ts";
import type { McpDeps } from "../deps.ts";
import {
  hasAdvertisedIndex,
  isIndexUri,
  type ListCuts,
  listIndexResources,
  readIndexResource,
} from "./index-resources.ts";
import { ownView } from "./own-manifest.ts";
import { type OwnResource, ownResources, ownResourceTemplates, type ResourceContents } from "./own-resources.ts";
import { parseResourceUri } from "./uri.ts";

export { ownResources, ownResourceTemplates } from "./own-resources.ts";

/** The registry's own resources, then the capability indexes that are advertised to the caller. */
export async function listResources(
  services: McpDeps,
  principal: Principal,
): Promise<{ resources: OwnResource[]; cuts?: ListCuts }> {
  const { resources, cuts } = await listIndexResources(services, principal);
  return { resources: [...ownResources, ...resources], cuts };
}

/** The registry's resource templates: those of indexes only while one is advertised to the caller. */
export async function listResourceTemplates(services: McpDeps, principal: Principal) {
  if (await hasAdvertisedIndex(services, principal)) return ownResourceTemplates;
  return ownResourceTemplates.filter(({ uriTemplate }) => !isIndexUri(uriTemplate));
}

/**
 * The text of a resource. Public servers need no token. Callers outside the tenant get the same failure for a private
 * server as for a server that does not exist.
 */
export async function readResource(
  services: McpDeps,
  principal: Principal,
  uri: string,
): Promise<Result<ResourceContents, Failure>> {
  const parsed = parseResourceUri(uri);
  if (!parsed.ok) return parsed;
  if (isIndexUri(uri)) return readIndexResource(services, principal, uri);
  if (parsed.value === undefined) return err(unknownResource(uri));
  const { view, server, generator } = parsed.value;
  if (server === undefined && generator !== undefined) return err(noOwnGenerators(uri));
  const contents =
    server === undefined
      ? await ownContents(services, uri, view)
      : await serverContents(
          services,
          principal,
          uri,
          server,
          generator === undefined ? namedView(view) : generatorView(generator),
        );
  return contents.ok ? contents : err(renameFailure(contents.error, uri));
}

async function ownContents(services: McpDeps, uri: string, name: string): Promise<Result<ResourceContents, Failure>> {
  const view = await ownView(services, name);
  return view.ok ? ok({ uri, mimeType: plain(view.value.contentType), text: view.value.text }) : view;
}

async function serverContents(
  services: McpDeps,
  principal: Principal,
  uri: string,
  server: ServerRef,
  view: View,
): Promise<Result<ResourceContents, Failure>> {
  const error = checkScope(principal, "registry:read");
  if (error !== undefined) return err(error);
  const shown = await readView(services, principal, server, view);
  if (!shown.ok) return shown;
  const { bytes, etag, generation } = shown.value;
  const text = new TextDecoder().decode(bytes);
  return ok({ uri, mimeType: plain(view.contentType), text, etag, generation });
}

/** A not-found failure names the URI and says what there is; an internal error becomes `server_error`. */
function renameFailure(reason: Failure, uri: string): Failure {
  if (reason.code === "resource_not_found") return noResource(uri, reason.message);
  return reason.code === "ErrorInternalServer" ? failure("server_error", reason.message) : reason;
}

function unknownResource(uri: string): Failure {
  const known = [...ownResources.map((one) => one.uri), ...ownResourceTemplates.map((one) => one.uriTemplate)];
  return noResource(uri, `Available: ${known.join(", ")}`);
}

function noOwnGenerators(uri: string): Failure {
  const where =
    "capabilities://{tenant}/{name}/generators lists those of a server, generator://{tenant}/{name}/{type} is one";
  return noResource(uri, `The registry has no generators of its own: ${where}`);
}

function noResource(uri: string, what: string): Failure {
  return failure("resource_not_found", `Unknown resource ${JSON.stringify(uri.slice(0, 256))}. ${what}`);
}

function plain(contentType: string): string {
  return contentType.split(";")[0] ?? contentType;
}
