/** A pattern that recheck finds super-linear, cannot judge, or takes long to judge, and why that costs little. */
export interface BoundedInput {
  file: string;
  source: string;
  flags: string;
  why: string;
}

/**
 * Files whose patterns are put together from lists of words, too large for recheck, which gives up on several of them. Nobody
 * has judged them one by one. They look at one text of an item, which has at most 512 kB, in its own step of the analysis, and
 * `test/unit/manifest/scan.test.ts` sees that time grows no faster than the text.
 */
export const wordLists = [
  "manifest/poison/find.ts",
  "manifest/poison/forms.ts",
  "manifest/poison/languages.ts",
  "manifest/poison/wording.ts",
] as const;

export const boundedInputs: readonly BoundedInput[] = [
  {
    file: "connect/package-target.ts",
    source: String.raw`^[a-z0-9][a-z0-9._:/-]*(?::[\w][\w.-]*)?(?:@sha256:[0-9a-f]{64})?$`,
    flags: "",
    why: "A package's identifier in a server.json of at most 64 kB; anchored at both ends.",
  },
  {
    file: "connect/target.ts",
    source: String.raw`\/+$`,
    flags: "",
    why: "The registry's own URL.",
  },
  {
    file: "connect/target.ts",
    source: "^_+|_+$",
    flags: "g",
    why: "The name of an input, in which runs were replaced by one character before.",
  },
  {
    file: "connect/target.ts",
    source: "^-+|-+$",
    flags: "g",
    why: "The name of a server: at most 128 characters.",
  },
  {
    file: "console/parts/figures.tsx",
    source: String.raw`\B(?=(\d{3})+$)`,
    flags: "g",
    why: "A number: at most 21 digits.",
  },
  {
    file: "console/parts/text.tsx",
    source: String.raw`\s+\S*$`,
    flags: "",
    why: "The beginning of a text, cut to the few hundred characters that a page shows.",
  },
  {
    file: "outbound/headers.ts",
    source:
      "^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|content-length|expect|accept-encoding|forwarded|via|x-forwarded-.*|x-real-ip|cf-.*|true-client-ip)$",
    flags: "",
    why: "The name of a header in a config of at most 256 kB; words without repetition, or a prefix.",
  },
  {
    file: "manifest/tokens.ts",
    source: String.raw`\p{L}{257,}|[^\s\p{L}\p{N}]{257,}|\s{257,}`,
    flags: "gu",
    why: "One text of an item of at most 512 kB; each alternative is a run of one class, and the classes share no character.",
  },
  {
    file: "official/rules.ts",
    source: String.raw`\/schemas\/([A-Za-z0-9_~.-]+)\/server\.schema\.json`,
    flags: "",
    why: "`$schema` of a server.json of at most 64 kB; a match begins only at `/schemas/`.",
  },
  {
    file: "search/query.ts",
    source: String.raw`[\p{L}\p{N}\p{M}]{1,64}$`,
    flags: "u",
    why: "The last 64 characters of a task.",
  },
  {
    file: "search/query.ts",
    source: String.raw`^(?:and then|then|after that|afterwards|finally|lastly|next|also|additionally|in addition|furthermore|moreover|besides)\b[ ,]*`,
    flags: "iu",
    why: "A clause of a task, at its beginning.",
  },
  {
    file: "console/parts/text.tsx",
    source: String.raw`(?<![\p{L}\p{M}\p{Extended_Pictographic}\uFE0F\p{Emoji_Modifier}])[\u200c\u200d]|[\u200c\u200d](?![\p{L}\p{Extended_Pictographic}])|[[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u115f\u1160\u3164\u2800]--[\t\n\r\u200c\u200d]]`,
    flags: "gv",
    why: "One character at a time, without repetition; recheck does not know the flag v.",
  },
  {
    file: "kernel/characters.ts",
    source: String.raw`^[\uFE0F\p{Emoji_Modifier}]$`,
    flags: "v",
    why: "One character at a time, without repetition; recheck does not know the flag v.",
  },
  {
    file: "kernel/characters.ts",
    source: String.raw`^\p{Extended_Pictographic}$`,
    flags: "v",
    why: "One character at a time, without repetition; recheck does not know the flag v.",
  },
  {
    file: "kernel/characters.ts",
    source: String.raw`[[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]--[\t\n\uFE0F\p{Extended_Pictographic}\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u{110BD}\u{110CD}]]`,
    flags: "gv",
    why: "One character at a time, without repetition; recheck does not know the flag v.",
  },
  {
    file: "kernel/characters.ts",
    source: String.raw`^[[\p{L}\p{M}]&&[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mandaic}\p{Script=Nko}\p{Script=Mongolian}\p{Script=Adlam}\p{Script=Hanifi_Rohingya}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}\p{Script=Javanese}\p{Script=Balinese}\p{Script=Meetei_Mayek}\p{Script=Chakma}\u064B-\u0655\u0670]]$`,
    flags: "v",
    why: "One character at a time, without repetition; recheck does not know the flag v.",
  },
  {
    file: "manifest/poison/find.ts",
    source: String.raw`^[[\p{L}\p{M}]&&[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mandaic}\p{Script=Nko}\p{Script=Mongolian}\p{Script=Adlam}\p{Script=Hanifi_Rohingya}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}\p{Script=Javanese}\p{Script=Balinese}\p{Script=Meetei_Mayek}\p{Script=Chakma}\u064B-\u0655\u0670]]$`,
    flags: "v",
    why: "One character at a time, without repetition; recheck does not know the flag v.",
  },
];
