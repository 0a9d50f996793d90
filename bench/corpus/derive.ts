import type { Random } from "./random.ts";
import type { RealServer, Tool } from "./server.ts";

/**
 * Servers that do not exist but could: another product of the same trade, whose tools do much the same in other words.
 * Words are drawn as often as real tools use them, so that common ones stay as common however large the catalogue gets;
 * each server brings a name of its own, and other words for what only few servers speak of, which is where new words come
 * from in real ones.
 */
export function createDerivation(real: readonly RealServer[]): (random: Random) => RealServer {
  const trades = tradesOf(real);
  // Servers with a handful of tools, not the few whose schemas are books: those are there once, as they are.
  const models = real.filter(({ tools }) => tools.some(isOrdinary));
  const rare = rareWords(real);
  return (random) => {
    const model = random.pick(models) as RealServer;
    const trade = trades.get(random.pick(model.categories) ?? anyTrade) as Trade;
    const brand = madeUpWord(random);
    const other = new Map(wordsOf(model.identifier).map((word) => [word, brand]));
    for (const word of model.tools.flatMap(({ name, description }) => wordsOf(`${name} ${description ?? ""}`))) {
      if (rare.has(word) && !other.has(word)) other.set(word, random.chance(newWordShare) ? madeUpWord(random) : word);
    }
    const tools = new Map<string, Tool>();
    for (const tool of model.tools.filter(isOrdinary)) {
      if (random.chance(0.2)) continue;
      const derived = deriveTool(tool, trade, other, random);
      tools.set(derived.name, derived);
    }
    for (let more = random.below(3) + (tools.size === 0 ? 1 : 0); more > 0; more -= 1) {
      const tool = random.pick(trade.tools) as Tool;
      const derived = deriveTool(tool, trade, other, random);
      tools.set(derived.name, derived);
    }
    const subject = random.pick(trade.nameWords) ?? "tools";
    return {
      identifier: `${brand}/${subject}`,
      title: `${capital(brand)} ${capital(subject)}`,
      categories: model.categories,
      tools: [...tools.values()],
    };
  };
}

interface Trade {
  tools: Tool[];
  /** As often as they occur, so that drawing one draws a common one more often. */
  words: string[];
  nameWords: string[];
}

const anyTrade = "";
/** A word that at most so many servers use is about something of their own. */
const fewServers = 3;
const newWordShare = 0.3;
const longestSchema = 6_000;

function isOrdinary({ inputSchema }: Tool): boolean {
  return inputSchema === undefined || JSON.stringify(inputSchema).length <= longestSchema;
}

function rareWords(real: readonly RealServer[]): Set<string> {
  const servers = new Map<string, number>();
  for (const { tools } of real) {
    const words = new Set(tools.flatMap(({ name, description }) => wordsOf(`${name} ${description ?? ""}`)));
    for (const word of words) servers.set(word, (servers.get(word) ?? 0) + 1);
  }
  const few = [...servers].filter(([word, count]) => count <= fewServers && word.length > 3);
  return new Set(few.map(([word]) => word));
}

function tradesOf(real: readonly RealServer[]): Map<string, Trade> {
  const trades = new Map<string, Trade>();
  for (const { categories, tools } of real) {
    for (const category of [...categories, anyTrade]) {
      const trade = trades.get(category) ?? { tools: [], words: [], nameWords: [] };
      for (const tool of tools.filter(isOrdinary)) {
        trade.tools.push(tool);
        trade.words.push(...contentWords(tool.description ?? ""));
        trade.nameWords.push(...wordsOf(tool.name).filter((word) => word.length > 2));
      }
      if (trade.tools.length > 0) trades.set(category, trade);
    }
  }
  return trades;
}

/** Words of the server it is derived from → those of the new one. */
type Renaming = ReadonlyMap<string, string>;

function deriveTool(tool: Tool, trade: Trade, renaming: Renaming, random: Random): Tool {
  const other = random.pick(trade.tools) as Tool;
  const description = deriveText(tool.description ?? "", other.description ?? "", trade, renaming, random);
  return {
    name: deriveName(tool.name, trade, renaming, random),
    ...(description === "" ? {} : { description }),
    ...(tool.inputSchema === undefined ? {} : { inputSchema: deriveSchema(tool.inputSchema, other, trade, random) }),
  };
}

function deriveName(name: string, { nameWords }: Trade, renaming: Renaming, random: Random): string {
  const parts = name.split(/([^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z]))/).filter((part) => part !== undefined);
  const at = random.chance(0.5) ? random.below(parts.length) : -1;
  const renamed = parts.map((part, index) => {
    if (!/^[A-Za-z]{3,}$/.test(part)) return part;
    const other = renaming.get(part.toLowerCase());
    if (other !== undefined) return cased(part, other);
    return index === at ? cased(part, random.pick(nameWords) ?? part) : part;
  });
  return renamed.join("").slice(0, 64);
}

function deriveText(text: string, other: string, { words }: Trade, renaming: Renaming, random: Random): string {
  const sentences = text.split(/(?<=[.!?\n]) */);
  const kept = sentences.filter(() => sentences.length === 1 || !random.chance(0.2));
  if (random.chance(0.3)) kept.push(random.pick(other.split(/(?<=[.!?\n]) */)) ?? "");
  const said = kept.join(" ").trim();
  const count = said.match(longWord)?.length ?? 0;
  // One word at least, so that what is short is not simply repeated.
  const always = random.below(count);
  let at = -1;
  return said.replaceAll(longWord, (word) => {
    at += 1;
    const renamed = renaming.get(word.toLowerCase()) ?? word.toLowerCase();
    if (renamed !== word.toLowerCase()) return cased(word, renamed);
    return at === always || random.chance(0.2) ? cased(word, random.pick(words) ?? word) : word;
  });
}

const longWord = /[A-Za-z]{4,}/g;

type Properties = Record<string, unknown>;

function deriveSchema(
  schema: Record<string, unknown>,
  { inputSchema: other }: Tool,
  { nameWords }: Trade,
  random: Random,
): Record<string, unknown> {
  const required = Array.isArray(schema["required"]) ? (schema["required"] as unknown[]) : [];
  const properties = Object.entries(propertiesOf(schema)).flatMap(([name, about]): [string, unknown][] => {
    if (required.includes(name)) return [[name, about]];
    if (random.chance(0.2)) return [];
    return [[random.chance(0.2) ? `${name}_${random.pick(nameWords) ?? "more"}` : name, about]];
  });
  const lent = random.chance(0.3) ? random.pick(Object.entries(propertiesOf(other))) : undefined;
  if (lent !== undefined && JSON.stringify(lent).length < 500) properties.unshift(lent);
  return { ...schema, properties: Object.fromEntries(properties) };
}

function propertiesOf(schema: Record<string, unknown> | undefined): Properties {
  const properties = schema?.["properties"];
  // A reference would point into the schema it was taken from.
  return typeof properties === "object" && properties !== null && !JSON.stringify(properties).includes('"$ref"')
    ? (properties as Properties)
    : {};
}

function wordsOf(text: string): string[] {
  return (text.match(/[A-Z]?[a-z]+|[A-Z]+/g) ?? []).map((word) => word.toLowerCase());
}

function contentWords(text: string): string[] {
  return (text.match(longWord) ?? []).map((word) => word.toLowerCase());
}

function cased(like: string, word: string): string {
  if (like === like.toUpperCase()) return word.toUpperCase();
  return /^[A-Z]/.test(like) ? capital(word) : word;
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

const beginnings = "b br c ch cl d dr f fl g gl h j k kl l m n p pl qu r s sh sk st t tr v w z".split(" ");
const vowels = "a e i o u ai ea io oo".split(" ");
const endings = "ble ck dex fy ga hub kit ld lo ly m nd nt pod r rix sta t ta tix va x".split(" ");

function madeUpWord(random: Random): string {
  const syllable = () => `${random.pick(beginnings)}${random.pick(vowels)}`;
  return `${syllable()}${random.chance(0.6) ? syllable() : ""}${random.pick(endings)}`;
}
