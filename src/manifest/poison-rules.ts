import { misplacedJoiner } from "../kernel/characters.ts";

interface PoisonRule {
  rule: string;
  message: string;
  /** Expects text in NFKC with white space collapsed. */
  matches: (text: string) => boolean;
  /** Skips icons, which are often images in a data: URI. */
  exemptsIcons?: true;
}

/**
 * Patterns of poisoned descriptions. Matches are flags for readers, not a gate: they catch careless attempts, and the
 * absence of a match proves nothing. Repetitions are bounded or cover single words, so that matching time stays linear
 * in the text.
 */
export const poisonRules: PoisonRule[] = [
  {
    rule: "hidden-instruction",
    message: "The text gives the model instructions of its own",
    matches: anyOf(
      /<\/?(?:important|system|instructions?|secret|hidden|critical|urgent|admin|assistant)(?: [^<>]{0,40})?>/i,
      /\b(?:ignore|disregard|forget|override|bypass)(?: \w+){0,3} (?:previous|prior|above|earlier|preceding|system|safety|security)(?: \w+){0,2} (?:instructions?|prompts?|rules|messages?|guidelines|directives|checks?|restrictions|polic(?:y|ies)|context)\b/i,
      /\b(?:ignore|disregard|forget) (?:all|everything) (?:previous|prior|above|earlier|preceding|(?:\w+ ){0,2}before)\b/i,
      /\b(?:do not|don['’]t|never|must not|without)(?: \w+){0,2} (?:tell|mention|inform|notify|reveal|disclose|alert)(?:ing)?\b[^.!?]{0,60}\b(?:user|human|anyone|that you)\b/i,
      /\b(?:hide|conceal|keep)(?: \w+){0,5} from (?:the )?(?:user|human)\b/i,
      /\b(?:silently|secretly|covertly) (?:send|copy|upload|forward|post|bcc|read|include|pass|collect)\b/i,
      /\balways (?:bcc|cc) \S+@/i,
      /\bbefore (?:using|calling|invoking|running|executing) (?:this|any|the|other)(?: \w+)? (?:tool|function|command)s?,? (?:you (?:must|should|need to) )?(?:first )?(?:read|open|access|cat|send|upload)\b/i,
      /\b(?:pass|send|include|put|append) (?:its|their|the file's) contents? (?:as|in|into|to)\b/i,
      /\b(?:reveal|print|output|repeat|leak)(?: \w+){0,2} system prompt\b/i,
      /\byou are now (?:in|an?|the|DAN)\b/i,
    ),
  },
  {
    rule: "chat-template",
    message: "The text holds control tokens of a chat template",
    matches: anyOf(
      /<\|[^<>|\s]{1,40}\|>/,
      /\[\/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS)\]/,
      /<<\/?SYS>>/i,
      /<(?:start|end)_of_turn>/i,
    ),
  },
  {
    // A prefix without content is allowed: legitimate tools use it to name the format they accept.
    rule: "data-uri",
    message: "The text holds a data: URI with content",
    exemptsIcons: true,
    matches: anyOf(/\bdata:[a-z]{1,20}\/[a-z0-9.+-]{1,60}(?:;[a-z0-9=-]{1,40}){0,4},[A-Za-z0-9+/%=_-]{8}/i),
  },
  {
    rule: "base64-run",
    message: "The text holds a long run of encoded data",
    exemptsIcons: true,
    matches: (text) => (text.match(/[A-Za-z0-9+/_-]+/g) ?? []).some((run) => run.length >= 64 && looksEncoded(run)),
  },
  {
    rule: "secret-path",
    message: "The text names a place where secrets are kept",
    matches: anyOf(
      /(?:^|[^\w.])\.(?:ssh|aws|gnupg|kube)[/\\]/i,
      /(?:^|[^\w.])\.(?:netrc|pgpass|git-credentials|bash_history|zsh_history)\b/i,
      /\bid_(?:rsa|ed25519|ecdsa|dsa)\b/i,
      /\/etc\/(?:passwd|shadow|sudoers)\b/i,
      /\b(?:mcp|claude_desktop_config)\.json\b/i,
      /\b(?:read|open|cat|send|upload|contents? of)(?: \S+){0,3} \S{0,40}(?<![\w.])\.env\b/i,
    ),
  },
  {
    rule: "misplaced-joiner",
    message: "A zero-width joiner stands where it joins nothing",
    matches: (text) => misplacedJoiner(text) !== undefined,
  },
];

function anyOf(...patterns: RegExp[]): PoisonRule["matches"] {
  return (text) => patterns.some((pattern) => pattern.test(text));
}

/**
 * Base64 mixes upper case, lower case and digits throughout; long words, hex, paths and identifiers lack one of these
 * or contain many separators.
 */
function looksEncoded(run: string): boolean {
  const share = (pattern: RegExp) => (run.match(pattern)?.length ?? 0) / run.length;
  return share(/[A-Z]/g) > 0.08 && share(/[a-z]/g) > 0.08 && share(/[0-9]/g) > 0.02 && share(/[+/_-]/g) < 0.12;
}
