import type { FlagRule } from "../flag.ts";

/**
 * Signs of poisoned text. They are flags for readers, not a gate: they catch careless attempts, and the absence of a
 * match proves nothing.
 */
export const poisonMessages = {
  "hidden-instruction": "The text gives the model instructions of its own",
  "call-first": "The text asks the model to call this tool before others, or always",
  exfiltration: "The text asks for the conversation, files or secrets to be sent or passed on",
  "chat-template": "The text holds control tokens of a chat template",
  "secret-path": "The text names a place where secrets are kept",
  "data-in-link": "The address of a link or image is made to carry data",
  "hidden-markup": "The text holds a comment or markup that is not shown to people",
  padding: "Blank space pushes the rest of the text out of sight",
  "literal-escape": "Letters of a word are written as escape sequences",
  "encoded-text": "The text holds a sentence in base64 or hex",
  "mixed-scripts": "A word is spelled with letters of several scripts that look alike",
  "data-uri": "The text holds a data: URI with content",
  "base64-run": "The text holds a long run of encoded data",
  "misplaced-joiner": "A zero-width joiner stands where it joins nothing",
} as const satisfies Partial<Record<FlagRule, string>>;

export type PoisonRule = keyof typeof poisonMessages;
