import { type ClientId, clients } from "./clients.ts";
import {
  type Answers,
  answerOf,
  askedInputs,
  type ConnectTarget,
  type LocalTarget,
  type Part,
  type Text,
  variableOf,
} from "./target.ts";

/** A value that is not in the snippet, and how the client comes by it. */
export interface Ask {
  id: string;
  description?: string;
  secret: boolean;
  how: "prompt" | "environment" | "replace";
  /** Environment variable to set, or the gap `<NAME>` to replace. */
  variable: string;
}

/** Writes texts for one client, and remembers which inputs were left to the reader. */
export interface Words {
  /** As the client's file has it. */
  plain(text: Text): string;
  /** As one word of a shell, with variables. */
  shell(text: Text): string;
  /** The only input of a text without any other words; undefined for every other text. */
  lone(text: Text): string | undefined;
  /** Whether a text is part of the snippet: optional inputs that nobody chose are left out. */
  isAsked(text: Text): boolean;
  /** Notes that the client reads an input from the environment; answers its name. */
  variable(id: string): string;
  asks(): Ask[];
}

export function createWords(client: ClientId, target: ConnectTarget, answers: Answers): Words {
  const { reference, fills } = clients[client];
  const asked = askedInputs(target, answers);
  const left = new Map<string, Ask["how"]>();
  const input = (id: string) => target.inputs.find((one) => one.id === id);
  const answer = (id: string) => {
    const one = input(id);
    return one === undefined ? undefined : answerOf(one, answers);
  };
  const leave = (id: string, how: Ask["how"]) => {
    if (left.get(id) !== "replace") left.set(id, how);
    return variableOf(target, id);
  };
  const resolved = (text: Text) =>
    joined(text.map((part) => (typeof part === "string" ? part : (answer(part.input) ?? part))));
  return {
    plain: (text) =>
      resolved(text)
        .map((part) =>
          typeof part === "string"
            ? part
            : reference(leave(part.input, client === "codex" ? "replace" : fills), promptId(target, part.input)),
        )
        .join(""),
    shell: (text) =>
      resolved(text)
        .map((part) => (typeof part === "string" ? shellWord(part) : `"$${leave(part.input, "environment")}"`))
        .join(""),
    lone: (text) => {
      const [only, ...rest] = resolved(text);
      return typeof only === "object" && rest.length === 0 ? only.input : undefined;
    },
    isAsked: (text) => text.every((part) => typeof part === "string" || asked.some(({ id }) => id === part.input)),
    variable: (id) => leave(id, "environment"),
    asks: () =>
      [...left].map(([id, how]) => ({
        id,
        description: input(id)?.description,
        secret: input(id)?.secret === true,
        how,
        variable: variableOf(target, id),
      })),
  };
}

/** Neighbouring texts as one. */
function joined(parts: readonly Part[]): Part[] {
  const result: Part[] = [];
  for (const part of parts) {
    const last = result.at(-1);
    if (typeof last === "string" && typeof part === "string") result[result.length - 1] = last + part;
    else result.push(part);
  }
  return result;
}

/** VS Code shares prompts between the servers of a file: the name keeps them apart. */
export function promptId({ name }: ConnectTarget, id: string): string {
  return `${name}-${id.replaceAll(/[^A-Za-z0-9_-]+/g, "-")}`;
}

/** A flag and its value are left out together. */
export function argsOf({ args }: LocalTarget, words: Words): string[] {
  const isLeftOut = (text: Text | undefined) => text !== undefined && !words.isAsked(text);
  return args
    .filter((text, index) => {
      const isFlagOfNext = typeof text[0] === "string" && text[0].startsWith("-") && isLeftOut(args[index + 1]);
      return !isLeftOut(text) && !isFlagOfNext;
    })
    .map((text) => words.plain(text));
}

/** One word of a POSIX shell, whatever is in it. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
