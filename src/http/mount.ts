import type { Principal } from "../auth/principal.ts";
import type { NamedTenant } from "../kernel/names.ts";
import type { Leave } from "../kernel/pace/admission.ts";
import type { StrictJson } from "../kernel/strict-json.ts";
import { checkHeld } from "./access.ts";
import { answersOf } from "./answer.ts";
import { type BodyBound, parseBody, parseJson, parseText, readBytes, readDocument, refuseBody } from "./body.ts";
import { type App, type RequestContext, requestError, type ServedOperation, throwIf, unwrap } from "./context.ts";
import type { HttpDeps } from "./deps.ts";
import { busy, countWork, heavyBytes, heavyItems, takePlace } from "./limits/work.ts";
import type { BodyDeclaration, Operation } from "./operation.ts";
import { compile, queryReader, readAll } from "./read-parameters.ts";

/** Serves the operations: the only code that adds routes. */
export function mount<Deps extends HttpDeps>(app: App, services: Deps, operations: readonly Operation<Deps>[]): void {
  const routes = operations.flatMap((operation) =>
    [operation.path, ...(operation.also ?? [])].map((path) => ({ path, operation })),
  );
  // Hono takes the first route that matches, so /revisions must come before /{view}.
  const paths = [...Map.groupBy(routes, ({ path }) => path)].sort(([a], [b]) => comparePaths(a, b));
  for (const [path, there] of paths) {
    for (const { operation } of there)
      app.on(operation.method.toUpperCase(), pattern(path), serve(services, operation));
    // Before the next path: GET /refresh is not a read of the /{view} of that name.
    const allow = allowed(there.map(({ operation }) => operation));
    const { errors = "api" } = there[0]?.operation ?? {};
    app.all(pattern(path), (c) => {
      c.set("operation", { id: "methodNotAllowed", errors, scope: undefined });
      throw methodNotAllowed(c, allow);
    });
  }
}

/** `/a/{b}` as Hono writes it. */
function pattern(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}

/** Orders paths so that a fixed segment comes before a parameter in its place. */
function comparePaths(a: string, b: string): number {
  const [ours, theirs] = [a, b].map((path) => path.split("/"));
  for (const [index, segment] of (ours ?? []).entries()) {
    const other = theirs?.[index];
    if (other === undefined || segment.startsWith("{") === other.startsWith("{")) continue;
    return segment.startsWith("{") ? 1 : -1;
  }
  return 0;
}

const methods = ["get", "head", "post", "put", "patch", "delete"];

function allowed(operations: readonly Operation[]): string {
  const served = new Set<string>(operations.map(({ method }) => method));
  if (operations.some(({ method, head }) => method === "get" && head !== false)) served.add("head");
  return methods
    .filter((method) => served.has(method))
    .join(", ")
    .toUpperCase();
}

function methodNotAllowed(c: RequestContext, allow: string) {
  const message = `${c.req.method} is not allowed here; allowed: ${allow}`;
  const isServer = c.req.method === "DELETE" && c.req.path.startsWith("/api/mcp/capabilities/");
  const hint = isServer ? "DELETE /api/mcp/configs/{tenant}/{name} deletes a server" : undefined;
  return requestError("ErrorMethodNotAllowed", message, { allow, hint });
}

const noQuery = new URLSearchParams();

/** The checks of a request, in the one order that every operation has; then its handler. */
function serve(services: HttpDeps, operation: Operation): (c: RequestContext) => Promise<Response> {
  const { access, body, parameters = {}, handle } = operation;
  const served: ServedOperation = { id: operation.id, errors: operation.errors ?? "api", scope: access.scope };
  const readQuery = queryReader(operation);
  const pathReaders = compile(parameters.path ?? {});
  const headerReaders = compile(parameters.headers ?? {});
  const { tenant: place } = access;

  return async (c) => {
    c.set("operation", served);
    if (operation.head === false && c.req.method === "HEAD") throw methodNotAllowed(c, allowed([operation]));

    const caller: Identified = { ...(await access.identify(c, services)) };
    const { url } = c.req;
    const start = url.indexOf("?");
    const search = start === -1 ? noQuery : new URLSearchParams(url.slice(start));
    const segments = c.req.param();
    if (place?.in === "path") requireTenant(c, caller, place.read(segments));
    if (place?.in === "query") requireTenant(c, caller, place.read(search));
    // Callers who are not looked at are not limited, and those who have still to prove who they are spend nobody's limit.
    const subject = access.verify === undefined ? c.get("subject") : undefined;
    if (subject !== undefined) c.set("countBytes", (size) => throwIf(countWork(services, subject, "bytes", size)));

    const leave: { now?: Leave } = {};
    const upload = operation.heavy === undefined ? undefined : services.uploads.start(caller.principal?.subject ?? "");
    if (upload !== undefined) {
      if (services.admission.isFull && isHeavy(operation, Number(c.req.header("Content-Length")))) {
        await refuseBody(c);
        throwIf(busy());
      }
      // The clean-up below never runs for a client who has left.
      c.req.raw.signal.addEventListener("abort", () => {
        leave.now?.();
        upload.end();
      });
      c.set("upload", {
        hold: (bytes) => throwIf(upload.hold(bytes) ? undefined : busy()),
        received: async (bytes) => {
          leave.now ??= await enterIfHeavy(services, operation, caller, bytes);
        },
      });
    }
    try {
      let bytes: Uint8Array | undefined;
      if (access.verify !== undefined && body !== undefined) {
        bytes = await readBytes(c, limitOf(services, body), boundOf(body));
        Object.assign(caller, await access.verify(c, services, caller, bytes));
      }
      const path = readAll(pathReaders, (name) => [segments[name] ?? ""]);
      const query = readQuery(search);
      const headers = readAll(headerReaders, (name) => {
        const text = c.req.header(name);
        return text === undefined ? undefined : [text];
      });
      const sent = body && (await readBody(c, services, body, bytes));
      // A body that the handler reads is not here yet, and may be sent slowly.
      if (body?.read !== "unread") leave.now ??= await enterIfHeavy(services, operation, caller, 0, sent);
      if (place?.in === "body") requireTenant(c, caller, place.read((sent as StrictJson).value));
      const value = body && validated(body, sent);
      return await handle(services, {
        ...caller,
        path,
        query,
        headers,
        body: value,
        c,
        answer: answersOf(c, services, operation, caller.principal),
      });
    } finally {
      leave.now?.();
      upload?.end();
    }
  };
}

/** Takes a place for a costly request, or fails with 503. Returns what gives it back; undefined if none is needed. */
async function enterIfHeavy(
  services: HttpDeps,
  operation: Operation,
  { principal }: Identified,
  bytes: number,
  sent?: unknown,
): Promise<Leave | undefined> {
  if (!isHeavy(operation, bytes, sent)) return undefined;
  return unwrap(await takePlace(services, principal?.subject ?? ""));
}

function isHeavy({ heavy }: Operation, bytes: number, sent?: unknown): boolean {
  return heavy === "always" || (heavy === "by-size" && (bytes > heavyBytes || hasManyItems(sent)));
}

function hasManyItems(sent: unknown): boolean {
  const { value, bytes = 0 } = (sent ?? {}) as { value?: unknown; bytes?: number };
  if (bytes > heavyBytes) return true;
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).reduce((sum, list) => sum + (Array.isArray(list) ? list.length : 0), 0) > heavyItems;
}

/** What is known of a caller. `spelling` is the tenant as the request writes it. */
interface Identified extends Partial<NamedTenant> {
  principal?: Principal;
}

function requireTenant(c: RequestContext, caller: Identified, named: NamedTenant | undefined): void {
  if (named !== undefined) c.set("tenant", named.tenant);
  if (named !== undefined && caller.principal !== undefined) throwIf(checkHeld(caller.principal, named.tenant));
  Object.assign(caller, { tenant: named?.tenant, spelling: named?.spelling });
}

function limitOf({ config }: HttpDeps, { limit }: BodyDeclaration): number {
  return typeof limit === "number" ? limit : config.bounds[limit];
}

/** The name of the bound; a number is the operation's own. */
function boundOf({ limit }: BodyDeclaration): BodyBound {
  return typeof limit === "number" ? "bodyBytes" : limit;
}

/** The body within its bounds, parsed but not validated. `bytes` are there if a signature was checked first. */
async function readBody(
  c: RequestContext,
  services: HttpDeps,
  body: BodyDeclaration,
  bytes: Uint8Array | undefined,
): Promise<unknown> {
  const limit = limitOf(services, body);
  switch (body.read) {
    case "unread":
      return undefined;
    case "bytes":
      return bytes ?? readBytes(c, limit, boundOf(body));
    case "text":
      return parseText(bytes ?? (await readBytes(c, limit, boundOf(body))));
    default: {
      if (bytes !== undefined) return parseJson(bytes, services.config.bounds.depth);
      const { yamlLimit: yamlBytes, whenEmpty } = body;
      const { depth } = services.config.bounds;
      return readDocument(c, { bytes: limit, bound: boundOf(body), depth, yamlBytes, whenEmpty });
    }
  }
}

function validated(body: BodyDeclaration, sent: unknown): unknown {
  const { read = "value", schema, invalid, ignored = [], check } = body;
  if (read !== "value") return sent;
  const document = sent as StrictJson;
  check?.(document.value);
  return parseBody(schema, { ...document, value: without(document.value, ignored) }, invalid);
}

function without(value: unknown, names: readonly string[]): unknown {
  if (names.length === 0 || typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
}
