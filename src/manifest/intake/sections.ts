import { type Issue, pointer } from "../../kernel/issue.ts";
import { isObject } from "../../kernel/json.ts";
import { nearest } from "../../kernel/nearest.ts";
import { clip } from "../../kernel/text.ts";
import { type SectionName, sectionNames } from "../schema/manifest.ts";
import { headerClaims } from "./claims.ts";
import { headerPlace } from "./known-members.ts";
import { bothSpellings } from "./members.ts";

/** The sections that a document names. */
export interface NamedSections {
  known: SectionName[];
  /** Lists and maps under names of the publisher's own, such as `validators`. Each is a view of that name. */
  own: string[];
}

const names = new Map(
  [...headerPlace.members].flatMap(([written, { name }]): [string, SectionName][] =>
    isSectionName(name) ? [[written, name]] : [],
  ),
);

function isSectionName(name: string): name is SectionName {
  return (sectionNames as string[]).includes(name);
}

/** The section that a key names, in either spelling. */
export function sectionNamed(key: string): SectionName | undefined {
  return names.get(key);
}

/**
 * The sections of a document, or why it cannot be taken for a manifest. `confirmed`: names that the sender says are
 * sections of its own.
 */
export function findSections(
  document: Record<string, unknown>,
  confirmed: readonly string[],
): { sections: NamedSections; issues: Issue[] } {
  const sections: NamedSections = { known: [], own: [] };
  const issues: Issue[] = [];
  for (const [key, value] of Object.entries(document)) {
    const section = sectionNamed(key);
    const path = pointer("", clip(key, 64));
    if (section !== undefined) {
      const message = sectionFault(section, value);
      if (key !== section && Object.hasOwn(document, section)) issues.push(bothSpellings(path, section));
      else if (message === undefined) sections.known.push(section);
      else issues.push({ path, rule: value === null ? "null-section" : "type", message });
      continue;
    }
    if (headerPlace.members.has(key) || headerClaims.has(key) || !isCollection(value)) continue;
    const meant = confirmed.includes(key) || !Array.isArray(value) ? undefined : nearest(key, names.keys());
    if (meant === undefined) sections.own.push(key);
    else issues.push(misspelt(path, key, names.get(meant) ?? meant));
  }
  return { sections, issues };
}

function sectionFault(section: SectionName, value: unknown): string | undefined {
  if (Array.isArray(value)) return undefined;
  const removal = `"${section}": [] to remove all of them`;
  if (value === null) return `is null; send ${removal}, or leave the section out`;
  const map = isObject(value) ? ", not a map as the views have it" : "";
  return `must be an array${map}: send a list of items, or ${removal}`;
}

function misspelt(path: string, key: string, meant: string): Issue {
  const own = `if ${clip(key, 64)} is a section of your own, say so with ?sections=${encodeURIComponent(clip(key, 64))}`;
  const message = `is not a section; did you mean ${meant}? (${own}; in a hook's event: data.sections)`;
  return { path, rule: "section-name", message };
}

function isCollection(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/** What of a server decides whether a document of own sections alone can be meant. */
interface ServerSections {
  hasItems: boolean;
  /** The fields of the published manifest. */
  header: Record<string, unknown>;
}

/**
 * Why a document that names no known section is refused. Its own sections count if the server has them already or the
 * sender confirms them; for a server with items, leaving out all of them is never taken for a wish to remove them.
 */
export function ownSectionsIssues(
  { known, own }: NamedSections,
  confirmed: readonly string[],
  server: ServerSections,
): Issue[] {
  if (known.length > 0) return [];
  const listed = sectionNames.join(", ");
  if (server.hasItems) {
    const message = `names none of ${listed}, and the server has items; send them too, or "tools": [] to remove them`;
    return own.map((name) => ({ path: pointer("", clip(name, 64)), rule: "own-sections-only", message }));
  }
  return unconfirmedSections(own, confirmed, server.header).map((name) => {
    const remedy = `if it is one of your own, say so with ?sections=${encodeURIComponent(clip(name, 64))}`;
    const message = `is not a section that the registry knows (${listed}); ${remedy} (in a hook's event: data.sections)`;
    return { path: pointer("", clip(name, 64)), rule: "own-sections-only", message };
  });
}

/** Own sections that are new to the server and that the sender does not confirm. */
export function unconfirmedSections(
  own: readonly string[],
  confirmed: readonly string[],
  header: Record<string, unknown>,
): string[] {
  return own.filter((name) => !confirmed.includes(name) && !Object.hasOwn(header, name));
}
