import type { AsOf, Writer, Written } from "../registry/contract.ts";
import type { Acknowledgement, FlaggedContent } from "./schema.ts";

/** A position in the list of what is flagged. */
export type FlagPosition = readonly [server: string, kind: string, name: string];

export interface AcknowledgeRequest extends Pick<Acknowledgement, "rule" | "path" | "acknowledged"> {
  digest: string;
}

export interface AcknowledgeOutcome {
  generation: number;
  changed: boolean;
  content: FlaggedContent;
}

/** RPC methods that flags need of a TenantObject. */
export interface FlagsTenant {
  flagged(after: FlagPosition, limit: number): Promise<AsOf<{ items: FlaggedContent[]; next?: FlagPosition }>>;
  acknowledgeFlag(writer: Writer, server: string, request: AcknowledgeRequest): Promise<Written<AcknowledgeOutcome>>;
}
