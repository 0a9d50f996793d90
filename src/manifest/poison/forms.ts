import { misplacedJoiner } from "../../kernel/characters.ts";
import { decodedTexts, mixesScripts, spellsLetters, type WrittenText } from "./readings.ts";
import type { PoisonRule } from "./rule.ts";

/** Rules about how a text is written. */
interface FormRule {
  rule: PoisonRule;
  matches: (written: WrittenText) => boolean;
  /** Skips icons, which are often images in a data: URI. */
  exemptsIcons?: true;
}

export const formRules: FormRule[] = [
  {
    rule: "hidden-instruction",
    matches: ({ text }) => text.includes(":") && roleName.test(text) && roles.some((role) => role.test(text)),
  },
  {
    rule: "data-in-link",
    matches: ({ text }) => (text.includes("](") || text.includes("]:") || text.includes("<")) && carriesData(text),
  },
  {
    rule: "hidden-markup",
    matches: ({ text }) =>
      (text.includes("<") && hidesMarkup(text)) || (text.includes("]:") && markdownComment.test(text)),
  },
  {
    rule: "padding",
    matches: ({ published, isAscii }) => isPadded(published, isAscii),
  },
  {
    rule: "literal-escape",
    matches: ({ text }) => spellsLetters(text),
  },
  {
    rule: "encoded-text",
    exemptsIcons: true,
    matches: ({ runs }) => runs.length > 0 && decodedTexts(runs).length > 0,
  },
  {
    rule: "mixed-scripts",
    matches: ({ text, isAscii }) => !isAscii && mixesScripts(text),
  },
  {
    // A prefix without content is allowed: legitimate tools use it to name the format they accept.
    rule: "data-uri",
    exemptsIcons: true,
    matches: ({ text }) =>
      text.includes(",") &&
      /\bdata:[a-z]{1,20}\/[a-z0-9.+-]{1,60}(?:;[a-z0-9=-]{1,40}){0,4},[A-Za-z0-9+/%=_-]{8}/i.test(text),
  },
  {
    rule: "base64-run",
    exemptsIcons: true,
    matches: ({ runs }) => runs.some((run) => run.length >= 64 && looksEncoded(run)),
  },
  {
    rule: "misplaced-joiner",
    matches: ({ text, isAscii }) => !isAscii && misplacedJoiner(text) !== undefined,
  },
];

const roleName = /system|developer|assistant|admin|root|系|システム|시스템/i;
const lineStart = "(?:^|\\n|[.!?;:)\\]}>\"'`] )[ \\t>*#_`\\[(<=-]{0,8}";
const roles = [
  new RegExp(
    `${lineStart}(?:SYSTEM|DEVELOPER|ASSISTANT|ADMIN(?:ISTRATOR)?|ROOT)(?: (?:PROMPT|MESSAGE|NOTE|NOTICE|INSTRUCTIONS?|OVERRIDE|ALERT|UPDATE|COMMAND|MODE))?[\\])>*_\`= ]{0,4}:`,
  ),
  new RegExp(
    `${lineStart}(?:system|developer|assistant)(?: (?:prompt|message|note|notice|instructions?|override|update))?[\\])>*_\` ]{0,4}:[\\])>*_\` ]{0,4}(?:you|ignore|disregard|forget|always|never|do not|don['’]t|must|from now|the (?:user|assistant)|reveal|send|call|override|new |when)`,
    "i",
  ),
  /(?:^|\n)\s{0,20}(?:系统|系統|システム|시스템)\s?(?:提示词?|消息|訊息|指令|指示|プロンプト|メッセージ|프롬프트|메시지)?\s?:\s?(?:你|您|忽略|必须|必須|请|請|不要|あなた|必ず|당신|반드시)/,
];

/** Placeholders (`{…}`, `<…>`, `[…]`, `$…`, `%7B`) and names of parameters that stand for what a model knows. */
const carrier =
  /[{<[$]|%7b|[?&](?:data|d|content|conversation|history|chat|prompt|secret|token|key|context|messages?|memory|input|output|answer|response|env|payload|log|leak|exfil|info|user|q|x|s)=/i;

function carriesData(text: string): boolean {
  for (const [, image, url = ""] of text.matchAll(/(!?)\[[^\]\n]{0,100}\]\(\s{0,4}(<?https?:\/\/[^\s)]{1,500})/gi)) {
    const rest = url.slice(1);
    if (image === "!" ? /[?{<[$]|%7b/i.test(rest) : /[{[$]|%7b/i.test(rest) || carrier.test(rest.replace(/^[^?]*/, "")))
      return true;
  }
  for (const [, url = ""] of text.matchAll(/(?:^|\n) {0,3}\[[^\]\n]{1,100}\]: {0,4}(https?:\/\/\S{1,500})/gi)) {
    if (/[{<[$]|%7b/i.test(url)) return true;
  }
  for (const [tag] of text.matchAll(/<img\b[^<>]{0,500}/gi))
    if (/src ?= ?["']?https?:[^"'\s>]{1,400}[?{$]/i.test(tag)) return true;
  return false;
}

/** `[//]: # (text)` and its variants: a link definition that nothing shows. */
const markdownComment = /(?:^|\n) {0,3}\[(?:\/\/|comment|_|#|hidden|\^_\^)\]: ?(?:#|<>)/i;

const hiddenStyle =
  /style ?= ?[^<>]{0,200}?(?:display ?: ?none|visibility ?: ?hidden|font-size ?: ?0(?![.\d]*[1-9])|opacity ?: ?0(?![.\d]*[1-9])|(?:width|height|max-height) ?: ?0(?![.\d]*[1-9])|color ?: ?(?:transparent|white|#fff)|text-indent ?: ?-\d{3}|(?:left|top) ?: ?-\d{3}|clip ?: ?rect)/i;

function hidesMarkup(text: string): boolean {
  if (/<!--(?!-?>)\s{0,100}[^\s-]/.test(text)) return true;
  for (const [tag] of text.matchAll(/<[a-z][^<>]{5,600}>/gi)) {
    if (/\shidden(?:[\s=>/]|$)/i.test(tag) || hiddenStyle.test(tag.replace(/\s+/g, " "))) return true;
  }
  return false;
}

/** Many line breaks, many spaces on a line, or several of the spaces that no keyboard types, before more text. */
function isPadded(published: string, isAscii: boolean): boolean {
  const text = published.trimEnd();
  return (
    (text.includes("\n") && /(?:\n[^\S\n]*){12}/.test(text)) ||
    (/ {40}|\t{10}/.test(text) && /(?<![ \t])[ \t]{160}/.test(text)) ||
    (!isAscii && /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]{12}/.test(text))
  );
}

/**
 * Base64 mixes upper case, lower case and digits throughout; long words, hex, paths and identifiers lack one of these
 * or contain many separators.
 */
function looksEncoded(run: string): boolean {
  const share = (pattern: RegExp) => (run.match(pattern)?.length ?? 0) / run.length;
  return share(/[A-Z]/g) > 0.08 && share(/[a-z]/g) > 0.08 && share(/[0-9]/g) > 0.02 && share(/[+/_-]/g) < 0.12;
}
