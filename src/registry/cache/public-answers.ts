import { decodeBase64, encodeBase64 } from "../../kernel/base64.ts";
import { canonicalJson, digestOfTextSync } from "../../kernel/digest.ts";
import { refOf, type ServerRef } from "../../kernel/names.ts";
import {
  cachedAnswer,
  contextHeader,
  type PlatformCache,
  uncachedAnswer,
} from "../../kernel/platform/platform-cache.ts";
import { readJson } from "../../kernel/read-json.ts";
import { analysisVersion } from "../../manifest/describe.ts";
import type { Head } from "../contract.ts";
import { capabilitiesView } from "../views/capabilities.ts";
import { visibleManifest } from "../views/enabled.ts";
import { decisionTreeView, generatorsView } from "../views/generators.ts";
import { operationsView } from "../views/operations.ts";
import { resourcesView } from "../views/resources.ts";
import { serverView } from "../views/server.ts";
import { toolsView } from "../views/tools.ts";
import type { View } from "../views/view.ts";
import { type Bodies, isCurrent } from "./bodies.ts";

/**
 * Views that everyone who may read a public server gets alike. What only managers see (`managedView`) and what callers name
 * themselves (extensions, single generators) is not among them.
 */
const sharedViews = new Map(
  [capabilitiesView, toolsView, serverView, resourcesView, generatorsView, operationsView, decisionTreeView].map(
    (view): [string, View] => [view.version, view],
  ),
);

/** Rendered views and bodies of public servers, in the platform's cache. */
export class PublicAnswers {
  readonly #cache: PlatformCache;

  constructor(cache: PlatformCache) {
    this.#cache = cache;
  }

  /** Whether the platform has its cache here. */
  isPresent(): Promise<boolean> {
    return this.#cache.isPresent();
  }

  /** undefined if the view is not shared, or is not to be had this way: render it then. */
  async view(head: Head, { version }: View): Promise<Uint8Array | undefined> {
    if (!isShared(head) || !sharedViews.has(version) || !(await this.isPresent())) return undefined;
    const text = textOf(head);
    return this.#cache.read(pathOf(text, head, version), encodeBase64(new TextEncoder().encode(text)));
  }

  /** The stored manifest of a public server as JSON text, as this release derives it. */
  async body(ref: ServerRef, digest: string): Promise<string | undefined> {
    const bytes = await this.#cache.read(bodyPath(ref, digest), "");
    return bytes && new TextDecoder().decode(bytes);
  }

  /** Call when a server was deleted or is no longer public. */
  forget(ref: ServerRef): void {
    this.#cache.purge([serverTag(ref)]);
  }
}

/** Answers a request of `PublicAnswers`, behind the cache. */
export async function answerPublic(request: Request, bodies: Bodies): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const [, kind, ...parts] = pathname.split("/");
  if (search !== "") return uncachedAnswer(404);
  if (kind === "view") return answerView(pathname, contextOf(request), bodies);
  if (kind === "body") return answerBody(pathname, ifReadable(() => parts.map(decodeURIComponent)) ?? [], bodies);
  return uncachedAnswer(404);
}

/**
 * The head comes along with the request. The path is checked against it, because the path is all that the next reader's answer
 * is found by.
 */
async function answerView(path: string, text: string | undefined, bodies: Bodies): Promise<Response> {
  const view = sharedViews.get(path.split("/").at(-1) ?? "");
  if (text === undefined || view === undefined) return uncachedAnswer(404);
  const head = ifReadable(() => readJson(text) as Head);
  if (head === undefined || !isShared(head) || path !== pathOf(text, head, view.version)) return uncachedAnswer(404);
  const ref = refOf(head);
  const body = head.digest === undefined ? undefined : await bodies.get(ref, head.digest);
  if (head.digest !== undefined && !isCurrent(body?.manifest)) return uncachedAnswer(404);
  const rendered = view.render(body && visibleManifest(body.manifest, head), head);
  if (rendered === undefined) return uncachedAnswer(404);
  return cachedAnswer(rendered, view.contentType, tagsOf(ref));
}

async function answerBody(path: string, [tenant = "", name = "", digest = ""]: string[], bodies: Bodies) {
  const ref = refOf({ tenant, name });
  if (path !== bodyPath(ref, digest)) return uncachedAnswer(404);
  const body = await bodies.get(ref, digest);
  if (body === undefined || !isCurrent(body.manifest)) return uncachedAnswer(404);
  return cachedAnswer(JSON.stringify(body.manifest), "application/json", tagsOf(ref));
}

function isShared({ visibility, deleted }: Head): boolean {
  return visibility === "public" && deleted !== true;
}

/** Without `asOf`, which says how fresh a head is and differs between readers of the same state. */
function textOf({ asOf: _asOf, ...state }: Head): string {
  return canonicalJson(state);
}

/**
 * Everything that a rendered view depends on: whose it is, the content, the head (what is switched off, flags, status,
 * `lastSynced`) and the view's version. The platform adds the version of the Worker.
 */
function pathOf(text: string, head: Head, version: string): string {
  const { tenant, name } = refOf(head);
  const parts = [tenant, name, head.digest ?? "none", digestOfTextSync(text), version];
  return `/view/${parts.map(encodeURIComponent).join("/")}`;
}

/** Tokens and flags in a body are derived from its content, so the version of that is in the path. */
function bodyPath({ tenant, name }: ServerRef, digest: string): string {
  return `/body/${[tenant, name, digest, String(analysisVersion)].map(encodeURIComponent).join("/")}`;
}

/** Tags must be printable ASCII without commas or spaces, and count in any case. */
function tagsOf(ref: ServerRef): string[] {
  return [`tenant:${encodeURIComponent(ref.tenant)}`, serverTag(ref)];
}

function serverTag({ tenant, name }: ServerRef): string {
  return `server:${encodeURIComponent(tenant)}/${encodeURIComponent(name)}`;
}

function ifReadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function contextOf(request: Request): string | undefined {
  const bytes = decodeBase64(request.headers.get(contextHeader) ?? "");
  return bytes === undefined || bytes.length === 0 ? undefined : new TextDecoder().decode(bytes);
}
