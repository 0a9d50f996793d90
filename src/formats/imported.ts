import type { CapabilityKind } from "../manifest/schema/capability.ts";

/** Result of an import: a manifest to publish, item counts and warnings. */
export interface Imported {
  manifest: Record<string, unknown>;
  counts: Partial<Record<CapabilityKind, number>>;
  warnings: string[];
}

/** Why an import failed, and where: a JSON pointer into the document, or a line and column of its text. */
export interface ImportFault {
  message: string;
  /** The document is what it should be, but not all of it. */
  isIncomplete?: true;
  path?: string;
  line?: number;
  column?: number;
}
