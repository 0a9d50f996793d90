/** What a client connects to: an address, or a command that it starts. Texts may have gaps that the reader fills. */

/** A value that the reader has to give: a prompt in clients that ask, an environment variable in most others. */
export interface ConnectInput {
  /** Unique in its target, such as `API_KEY`. */
  id: string;
  description?: string;
  required: boolean;
  /** Never part of a snippet, a link or a form: the client asks for it or reads it from the environment. */
  secret: boolean;
  /** Used where the reader gives nothing. Never that of a secret. */
  default?: string;
  placeholder?: string;
  choices?: string[];
}

/** Plain text, or the id of an input. */
export type Part = string | { input: string };
export type Text = readonly Part[];

interface TargetBase {
  /** What the server is called in the client: letters, digits, `-` and `_`. */
  name: string;
  inputs: ConnectInput[];
  /** What the reader should know before connecting. */
  notes: string[];
}

export interface RemoteTarget extends TargetBase {
  kind: "remote";
  transport: "http" | "sse";
  url: Text;
  headers: { name: string; value: Text }[];
  /** Command that must run before: the server is a program that listens on this machine. */
  runFirst?: readonly Text[];
  /** Address of the registry, where the target is the registry itself: `rollcall mcp` can stand before it. */
  registry?: string;
}

export interface LocalTarget extends TargetBase {
  kind: "local";
  command: string;
  args: readonly Text[];
  env: { name: string; value: Text }[];
}

export type ConnectTarget = RemoteTarget | LocalTarget;

/** The reader's own values for inputs that are no secrets, and the optional secrets that the snippet should ask for. */
export interface Answers {
  values?: Readonly<Record<string, string>>;
  include?: readonly string[];
}

/**
 * Clients replace these in their files by environment variables. A publisher's text with such a reference would send a
 * reader's secret to the publisher.
 */
const expansion = /\$\{|\$[A-Za-z_(]|%[A-Za-z_]\w*%/;

/** Why a text cannot be written into a client's file; undefined if it can. */
export function textProblem(text: string): string | undefined {
  if (expansion.test(text)) return "clients would replace a part of it by an environment variable";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these must not reach a file or a shell
  if (/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/.test(text))
    return "it has control characters";
  return text.length > 2_048 ? "it is longer than 2,048 characters" : undefined;
}

/** A name that every client takes. */
export function clientName(name: string): string {
  const plain = name.replaceAll(/[^A-Za-z0-9_-]+/g, "-").replaceAll(/^-+|-+$/g, "");
  return plain === "" ? "server" : plain.slice(0, 60);
}

/** Environment variable that holds an input. Of a remote server it has the server's name: the publisher chose the id. */
export function variableOf(target: ConnectTarget, id: string): string {
  const name = id
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, "_")
    .replaceAll(/^_+|_+$/g, "");
  if (target.kind === "local" && /^[A-Za-z_]\w*$/.test(id)) return id;
  const prefix = target.name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_");
  const full = name === prefix || name.startsWith(`${prefix}_`) ? name : `${prefix}_${name}`;
  return /^\d/.test(full) ? `_${full}` : full;
}

/** Inputs that this snippet asks for: required ones, and optional ones that were chosen or answered. */
export function askedInputs({ inputs }: ConnectTarget, { values = {}, include = [] }: Answers = {}): ConnectInput[] {
  return inputs.filter(({ id, required }) => required || include.includes(id) || (values[id] ?? "") !== "");
}

/**
 * The reader's value of an input, or its default; undefined for a secret and where there is none: the client then asks
 * or reads a variable.
 */
export function answerOf({ id, secret, default: preset }: ConnectInput, { values = {} }: Answers = {}) {
  if (secret) return undefined;
  const given = Object.hasOwn(values, id) ? values[id] : undefined;
  return given !== undefined && given !== "" ? given : preset;
}

/** Rollcall itself. With `token`, requests are made with a bearer token; without, only what is public is there. */
export function registryTarget(url: string, { token }: { token: boolean }): RemoteTarget {
  const base = url.replace(/\/+$/, "");
  return {
    kind: "remote",
    name: "rollcall",
    transport: "http",
    registry: base,
    url: [`${base}/mcp`],
    headers: token ? [{ name: "Authorization", value: ["Bearer ", { input: "token" }] }] : [],
    inputs: token ? [{ id: "token", description: `Token of ${base}`, required: true, secret: true }] : [],
    notes: token ? ["A token is valid for a day at most: the client needs a new one then."] : [],
  };
}
