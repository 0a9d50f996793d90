/**
 * Every rule that raises a flag, with how much it matters. `high`: an instruction to the model, a request to send the
 * conversation, files or secrets somewhere, text that people do not see, a place where secrets are kept, or text that
 * steers another server's tool. `low`: everything else that a reader should know.
 */
const severities = {
  "hidden-instruction": "high",
  "chat-template": "high",
  "call-first": "high",
  exfiltration: "high",
  "data-in-link": "high",
  "hidden-markup": "high",
  padding: "high",
  "literal-escape": "high",
  "encoded-text": "high",
  "mixed-scripts": "high",
  "misplaced-joiner": "high",
  "secret-path": "high",
  shadowing: "high",
  "more-flags": "high",
  "tool-mention": "low",
  "name-collision": "low",
  "case-twin": "low",
  "same-version": "low",
  "annotation-mismatch": "low",
  "remote-ref": "low",
  "data-uri": "low",
  "base64-run": "low",
} as const satisfies Record<string, "high" | "low">;

export type FlagRule = keyof typeof severities;
export type Severity = (typeof severities)[FlagRule];

/** A warning about a capability that is no reason to reject it. As stored: the severity follows from the rule. */
export interface Flag {
  rule: FlagRule;
  path: string;
  message: string;
  /** Who accepted the text. Never stored with the item: the acknowledgement is the registry's, not the content's. */
  acknowledged?: { by: string; at: string };
}

/** A flag with the id of its capability. Without an id the flag is about the whole server. */
export interface CapabilityFlag extends Flag {
  capability?: string;
  /** The path is one of the server's config, not of its manifest. */
  of?: "config";
}

export function severityOf(rule: FlagRule): Severity {
  return severities[rule];
}

/** A flag as responses show it. */
export type Shown<T extends Flag> = T & { severity: Severity };

export function shownFlags<T extends Flag>(flags: readonly T[]): Shown<T>[] {
  return flags.map((flag) => ({ ...flag, severity: severityOf(flag.rule) }));
}

/** True if the flag keeps its item out of choices made for an agent. */
export function isHigh({ severity, acknowledged }: { severity: string; acknowledged?: unknown }): boolean {
  return severity === "high" && acknowledged === undefined;
}

/** At most this many flags. The low ones go first, so that none of them can push out a high one. */
export function keepSevere<T extends Flag>(flags: readonly T[], most: number): readonly T[] {
  if (flags.length <= most) return flags;
  const isSevere = ({ rule }: Flag) => severityOf(rule) === "high";
  return [...flags.filter(isSevere), ...flags.filter((flag) => !isSevere(flag))].slice(0, most);
}
