import { shellWord } from "../../connect/words.ts";
import { readJson } from "../../kernel/read-json.ts";
import type { DescribedOperation } from "./description.ts";
import { addressOf, type Filled } from "./filled.ts";

/** The same request as a command and as code. Secrets are never in it: the token is read from the environment. */

const token = "ROLLCALL_TOKEN";

export function asCurl(operation: DescribedOperation, filled: Filled, origin: string): string {
  const { method, proof } = operation;
  const lines = [
    `curl -sS${method === "GET" ? "" : ` -X ${method}`} ${shellWord(`${origin}${addressOf(operation, filled)}`)}`,
  ];
  if (proof === "token") lines.push(`-H "Authorization: Bearer $${token}"`);
  for (const [name, value] of headersOf(filled)) lines.push(`-H ${shellWord(`${name}: ${value}`)}`);
  if (filled.body) lines.push(`-d ${shellWord(filled.body)}`);
  return lines.join(" \\\n  ");
}

function headersOf({ headers, body, type }: Filled): [string, string][] {
  const own = Object.entries(headers);
  if (!body || type === undefined || own.some(([name]) => name.toLowerCase() === "content-type")) return own;
  return [["Content-Type", type], ...own];
}

export function asTypeScript(operation: DescribedOperation, filled: Filled, origin: string): string {
  const given = operation.proof === "none" ? "" : `\n  token: process.env.${token},`;
  return `import { createClient } from "rollcall/client";

const registry = createClient({
  url: ${quoted(origin)},${given}
});
const answer = await ${expressionOf(operation, filled)};`;
}

const quoted = (value: unknown) => JSON.stringify(value);

/** A function of the client library where it says all that is filled in; otherwise the request itself. */
export function expressionOf(operation: DescribedOperation, filled: Filled): string {
  const { path, query, headers, body } = filled;
  const isPlain = Object.keys(headers).length === 0 && Object.keys(query).length === 0;
  const { tenant = "", name = "", id = "", digest = "", view = "" } = path;
  const server = quoted(`${tenant}/${name}`);
  const ids = `${quoted(tenant)}, ${quoted(id)}`;
  const functions: Record<string, string | false> = {
    searchCapabilities:
      onlyHas(query, ["task", "budget", "limit"]) && `search(${quoted(query.task)}, ${numbers(query, ["task"])})`,
    readCatalog: isPlain && "catalog()",
    getCapabilities: isPlain && `read(${server})`,
    getCapability: isPlain && `capability(${quoted(tenant)}, ${quoted(path.capabilityId)})`,
    getView: isPlain && `view(${server}, ${quoted(view)})`,
    listRevisions: isPlain && `history(${server})`,
    getRevision: isPlain && `revision(${server}, ${quoted(digest)})`,
    publishManifest: isPlain && isJson(filled) && `publish(${server}, ${body})`,
    whoami: isPlain && "whoami()",
    listChanges: onlyHas(query, ["since", "limit"]) && `changePage(${quoted(tenant)}, ${numbers(query)})`,
    ...resourceCalls("Hook", "hooks", { query, ids, isPlain, body: isJson(filled) ? body : undefined }),
    ...resourceCalls("Subscription", "subscriptions", { query, ids, isPlain, body: isJson(filled) ? body : undefined }),
  };
  const known = Object.keys(headers).length === 0 && functions[operation.id];
  if (known) return `registry.${known}`;
  // A body is sent as JSON unless a header says otherwise.
  const sent = isJson(filled) ? Object.entries(headers) : headersOf(filled);
  const options = [
    ...(sent.length > 0 ? [`headers: ${quoted(Object.fromEntries(sent))}`] : []),
    ...(body ? [`body: ${isJson(filled) ? body : quoted(body)}`] : []),
  ];
  const last = options.length === 0 ? "" : `, { ${options.join(", ")} }`;
  return `registry.connection.send(${quoted(operation.method)}, ${quoted(addressOf(operation, filled))}${last})`;
}

interface Given {
  query: Record<string, string>;
  ids: string;
  isPlain: boolean;
  body: string | undefined;
}

/** Hooks and subscriptions have the same functions under other names. */
function resourceCalls(noun: string, member: string, { query, ids, isPlain, body }: Given) {
  const isHook = noun === "Hook";
  return {
    [`list${noun}s`]: onlyHas(query, ["tenant"]) && `${member}.list(${quoted(query.tenant)})`,
    [isHook ? "registerHook" : "createSubscription"]: isPlain && body !== undefined && `${member}.add(${body})`,
    [`get${noun}`]: isPlain && `${member}.show(${ids})`,
    [`change${noun}`]: isPlain && body !== undefined && `${member}.change(${ids}, ${body})`,
    [isHook ? "rotateHook" : "rotateSubscriptionSecret"]: isPlain && `${member}.rotate(${ids}, ${body ?? "{}"})`,
    [`delete${noun}`]: isPlain && `${member}.remove(${ids})`,
    ...(isHook ? {} : { testSubscription: isPlain && `${member}.test(${ids})` }),
  };
}

function onlyHas(query: Record<string, string>, names: readonly string[]): boolean {
  return Object.keys(query).every((name) => names.includes(name));
}

function numbers(query: Record<string, string>, without: readonly string[] = []): string {
  const members = Object.entries(query).filter(([name]) => !without.includes(name));
  if (members.length === 0) return "{}";
  return `{ ${members.map(([name, value]) => `${name}: ${Number(value)}`).join(", ")} }`;
}

/** Only JSON is code as well. */
function isJson({ body, type }: Filled): boolean {
  if (!body || type !== "application/json") return false;
  try {
    readJson(body);
    return true;
  } catch {
    return false;
  }
}

/** The command made for it, if there is one, and the one that sends any request. */
export function asCli(operation: DescribedOperation, filled: Filled): string {
  const { headers, body, type } = filled;
  const parts = ["rollcall api", operation.method, shellWord(addressOf(operation, filled))];
  for (const [name, value] of Object.entries(headers)) parts.push(`-H ${shellWord(`${name}: ${value}`)}`);
  if (body && type !== undefined && type !== "application/json") parts.push(`--type ${type}`);
  if (body) parts.push(`-d ${shellWord(body)}`);
  const own = commandOf(operation, filled);
  return own === undefined ? parts.join(" ") : `rollcall ${own}\n\n# or the request itself\n${parts.join(" ")}`;
}

/** The command of the command line that does this; undefined where there is none. */
export function commandOf({ id: operation }: DescribedOperation, { path, query, body }: Filled): string | undefined {
  const { tenant = "", name = "", id = "", digest = "", variant = "summary" } = path;
  const word = (text: string | undefined) => shellWord(text || "…");
  const server = word(`${tenant}/${name}`);
  const hook = word(`${tenant}/${id}`);
  const sent = membersOf(body);
  const named = `${sent.tenant ?? "TENANT"}/${sent.name ?? sent.server ?? "NAME"}`;
  const commands: Record<string, string> = {
    searchCapabilities: `search ${word(query.task)}${query.budget === undefined ? "" : ` --budget ${word(query.budget)}`}`,
    readCatalog: "list",
    getCatalogServer: `show ${server}`,
    getCapabilities: `show ${server}`,
    listFlags: `flags --tenant ${word(query.tenant)}`,
    getTenantIndex: `index ${word(tenant)} ${word(variant)}`,
    getServerIndex: `index ${server} ${word(variant)}`,
    fitIndex: `index ${word(tenant)} --task ${word(String(sent.task ?? ""))} --budget ${word(String(sent.budget ?? ""))}`,
    publishManifest: `publish ${server} manifest.json`,
    importDocument: `import ${word(path.format)} document ${word(`${query.tenant}/${query.name}`)}`,
    createServer: `server create ${word(named)}`,
    patchServer: `server edit ${server}`,
    deleteServer: `server delete ${server}`,
    refreshServer: `server refresh ${server}`,
    listRevisions: `history ${server}`,
    diffRevisions: `diff ${server} ${word(query.from ?? "previous")} ${word(query.to ?? "current")}`,
    restoreRevision: `restore-revision ${server} ${word(digest)}`,
    listChanges: `watch ${word(tenant)}`,
    registerHook: `hooks add ${word(named)}`,
    listHooks: `hooks list ${word(query.tenant)}`,
    getHook: `hooks show ${hook}`,
    changeHook: `hooks ${sent.enabled === false ? "off" : "on"} ${hook}`,
    rotateHook: `hooks rotate ${hook}`,
    deleteHook: `hooks remove ${hook}`,
    createSubscription: `subscriptions add ${word(String(sent.tenant ?? "TENANT"))} ${word(String(sent.url ?? "URL"))}`,
    listSubscriptions: `subscriptions list ${word(query.tenant)}`,
    getSubscription: `subscriptions show ${hook}`,
    changeSubscription: `subscriptions ${sent.enabled === false ? "pause" : "resume"} ${hook}`,
    rotateSubscriptionSecret: `subscriptions rotate ${hook}`,
    testSubscription: `subscriptions test ${hook}`,
    deleteSubscription: `subscriptions remove ${hook}`,
    negotiate: "negotiate",
    whoami: "whoami",
  };
  return Object.hasOwn(commands, operation) ? commands[operation] : undefined;
}

function membersOf(body: string | undefined): Record<string, unknown> {
  try {
    const value: unknown = readJson(body ?? "");
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
