import { scopeObjection } from "../auth/permission.ts";
import type { Principal } from "../auth/principal.ts";
import { type Failure, failure } from "../domain/failure.ts";
import { err, ok, type Result } from "../domain/result.ts";
import { findView, readView } from "../reading/view.ts";
import type { Services } from "../services.ts";
import type { ServerRef } from "../storage/heads.ts";
import { ownView } from "./own-view.ts";
import { parseResourceUri } from "./resource-uri.ts";

/** A resource as MCP lists it. */
export interface OwnResource {
  uri: string;
  name: string;
  title: string;
  description: string;
  mimeType: string;
}

/** Resources whose URI is made from what the reader looks for. */
export interface OwnResourceTemplate extends Omit<OwnResource, "uri"> {
  uriTemplate: string;
}

export interface ResourceContents {
  uri: string;
  mimeType: string;
  text: string;
  /** Of a server's view: changes when the view does. */
  etag?: string;
  /** The generation of the server's tenant it is as of. */
  generation?: number;
}

const mimeType = "application/json";

/** In stable order. */
export const ownResources: readonly OwnResource[] = [
  {
    uri: "capabilities://server",
    name: "server",
    title: "This registry",
    description: "Version, features, limits and runtime of the registry.",
    mimeType,
  },
  {
    uri: "capabilities://tools",
    name: "tools",
    title: "Operations",
    description: "What the registry can be asked to do, with schemas, by category.",
    mimeType,
  },
  {
    uri: "capabilities://resources",
    name: "resources",
    title: "Resources",
    description: "Families of resource URIs and their parameters.",
    mimeType,
  },
  {
    uri: "capabilities://generators",
    name: "generators",
    title: "Generators",
    description: "The registry's own generators and how one is chosen.",
    mimeType,
  },
  {
    uri: "generator://decision_tree",
    name: "decision_tree",
    title: "Generators (deprecated)",
    description: "Deprecated: read capabilities://generators.",
    mimeType,
  },
];

export const ownResourceTemplates: readonly OwnResourceTemplate[] = [
  {
    uriTemplate: "capabilities://{tenant}/{name}/{view}",
    name: "server_view",
    title: "View of a server",
    description: "view: server, tools, resources, generators, or one that the server's manifest brings.",
    mimeType,
  },
];

/**
 * The text of a resource. Public servers need no token; to anyone outside its tenant, a private server and no server
 * look the same.
 */
export async function readResource(
  services: Services,
  principal: Principal,
  uri: string,
): Promise<Result<ResourceContents, Failure>> {
  const parsed = parseResourceUri(uri);
  if (!parsed.ok) return parsed;
  if (parsed.value === undefined) return err(unknownResource(uri));
  const { view, server } = parsed.value;
  const contents =
    server === undefined
      ? ownContents(services, uri, view)
      : await serverContents(services, principal, uri, server, view);
  return contents.ok ? contents : err(named(contents.error, uri));
}

function ownContents(services: Services, uri: string, name: string): Result<ResourceContents, Failure> {
  const view = ownView(services, name);
  return view.ok ? ok({ uri, mimeType: plain(view.value.contentType), text: view.value.text }) : view;
}

async function serverContents(
  services: Services,
  principal: Principal,
  uri: string,
  server: ServerRef,
  name: string,
): Promise<Result<ResourceContents, Failure>> {
  const objection = scopeObjection(principal, "registry:read");
  if (objection !== undefined) return err(objection);
  const view = findView(name);
  if (!view.ok) return view;
  const shown = await readView(services, principal, server, view.value);
  if (!shown.ok) return shown;
  const { bytes, etag, generation } = shown.value;
  const text = new TextDecoder().decode(bytes);
  return ok({ uri, mimeType: plain(view.value.contentType), text, etag, generation });
}

/** Resources are told apart by URI rather than by view, and what goes wrong in making one has a name of its own. */
function named(reason: Failure, uri: string): Failure {
  if (reason.code === "resource_not_found") return unknownResource(uri);
  return reason.code === "ErrorInternalServer" ? failure("server_error", reason.message) : reason;
}

function unknownResource(uri: string): Failure {
  const known = [...ownResources.map((one) => one.uri), ...ownResourceTemplates.map((one) => one.uriTemplate)];
  const wanted = JSON.stringify(uri.slice(0, 256));
  return failure("resource_not_found", `There is no resource ${wanted}; there are ${known.join(", ")}`);
}

function plain(contentType: string): string {
  return contentType.split(";")[0] ?? contentType;
}
