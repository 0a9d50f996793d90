/**
 * Synonyms of actions: the key is the canonical verb; inflected forms are derived. Words that are nouns as often as
 * verbs (report, record, file, order, issue, format) are left out, because they would match more nouns than verbs.
 */
const taxonomy: Record<string, string> = {
  add: "append attach insert include join",
  analyze: "analyse inspect examine evaluate assess audit diagnose profile",
  approve: "accept confirm authorize authorise",
  assign: "allocate delegate",
  build: "compile assemble bundle",
  calculate: "compute count sum estimate",
  cancel: "abort revoke reject decline",
  check: "verify validate lint test",
  close: "finish complete resolve",
  compare: "diff match",
  connect: "link bind subscribe",
  convert: "translate transform transcode transpile parse encode decode",
  copy: "clone duplicate fork",
  create: "make new generate compose draft register provision init initialize initialise",
  debug: "troubleshoot trace",
  delete: "remove destroy erase drop purge clear unset",
  deploy: "release rollout ship",
  describe: "explain document show",
  disable: "deactivate block mute suspend",
  download: "pull",
  enable: "activate unblock unmute",
  execute: "run invoke call perform eval",
  export: "dump backup",
  extract: "scrape crawl",
  fetch: "retrieve",
  find: "locate lookup discover",
  fix: "repair mend heal",
  get: "read load view",
  import: "ingest restore",
  install: "setup configure",
  list: "enumerate browse",
  merge: "combine fuse",
  monitor: "watch observe track",
  move: "rename relocate migrate transfer",
  notify: "alert remind",
  open: "",
  pause: "halt",
  plan: "schedule",
  post: "publish submit",
  save: "store persist write",
  search: "query filter",
  select: "choose pick",
  send: "email mail deliver dispatch forward",
  set: "assert",
  share: "invite",
  sort: "rank prioritize prioritise",
  start: "launch begin resume restart",
  stop: "kill terminate shutdown end",
  suggest: "recommend propose",
  summarize: "summarise digest condense",
  sync: "synchronize synchronise refresh",
  update: "edit modify change patch replace adjust",
  upload: "push",
};

const forms = new Map<string, string>();
for (const [verb, others] of Object.entries(taxonomy)) {
  for (const word of [verb, ...others.split(" ")].filter(Boolean)) {
    for (const form of inflected(word)) if (!forms.has(form)) forms.set(form, verb);
  }
}
// A listed word takes precedence over an inflected form of another word.
for (const [verb, others] of Object.entries(taxonomy)) {
  for (const word of [verb, ...others.split(" ")].filter(Boolean)) forms.set(word, verb);
}

/** The canonical verb of a word in any inflection; undefined if the word is no known verb. */
export function canonicalVerb(word: string): string | undefined {
  return forms.get(word.toLowerCase());
}

/** Word boundaries in camel case: `getURL` → get, URL. */
const humps = /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/;

/**
 * The verb of a name such as `create_issue`, `issues/create` or `listOpenIssues`. The first word takes precedence, then
 * the last: a verb in between, such as open in the third example, is more often an adjective.
 */
export function verbOfName(name: string): string | undefined {
  const words = name.split(/[^A-Za-z0-9]+/).flatMap((part) => part.split(humps));
  const verbs = words.map(canonicalVerb);
  return verbs[0] ?? verbs.at(-1) ?? verbs.find((verb) => verb !== undefined);
}

/** create → creates, created, creating; stop → stopped, stopping; copy → copies, copied. */
function inflected(word: string): string[] {
  const stem = word.replace(/e$/, "");
  const all = [word, /(?:s|x|ch|sh)$/.test(word) ? `${word}es` : `${word}s`, `${stem}ed`, `${stem}ing`];
  if (/[^aeiou]y$/.test(word)) all.push(`${word.slice(0, -1)}ies`, `${word.slice(0, -1)}ied`);
  if (/[^aeiou][aeiou][bdgmnprt]$/.test(word)) all.push(`${word}${word.at(-1)}ed`, `${word}${word.at(-1)}ing`);
  return all;
}
