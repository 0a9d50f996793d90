import type { CapabilityKind } from "../manifest/schema/capability.ts";

/** What an importer makes of a foreign document: a manifest to publish, and what its reader should know. */
export interface Imported {
  manifest: Record<string, unknown>;
  counts: Partial<Record<CapabilityKind, number>>;
  warnings: string[];
}

/** Why nothing could be made of it, and where: a JSON pointer into the document, or a line and column of its text. */
export interface ImportFault {
  message: string;
  path?: string;
  line?: number;
  column?: number;
}
