import type { CapabilityKind } from "../manifest/schema/capability.ts";

/** Result of an import: a manifest to publish, item counts and warnings. */
export interface Imported {
  manifest: Record<string, unknown>;
  counts: Partial<Record<CapabilityKind, number>>;
  warnings: string[];
}

/** A bound of `kernel/bounds.ts` by name, its limit, and how much was found; work stops where the limit is passed. */
export interface Exceeded {
  name: string;
  limit: number;
  found: number;
}

/** Why an import failed, and where: a JSON pointer into the document, or a line and column of its text. */
export interface ImportFault {
  message: string;
  /** The document is what it should be, but not all of it. */
  isIncomplete?: true;
  /** The document would become more than this bound allows. */
  bound?: Exceeded;
  path?: string;
  line?: number;
  column?: number;
}
