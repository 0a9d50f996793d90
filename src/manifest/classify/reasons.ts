import { z } from "zod";
import { clip } from "../../kernel/text.ts";

export const Classification = z
  .enum(["breaking", "additive", "cosmetic", "removed"])
  .describe("What a change means for those who use the capability.");
export type Classification = z.infer<typeof Classification>;

/** The classes of the change log. Only content can break, add or remove; what moves without it is `advisory`. */
export const ChangeClass = z
  .enum([...Classification.options, "advisory"])
  .describe(
    "What a change means for those who use the capability. `advisory`: status or flags moved, content did not.",
  );
export type ChangeClass = z.infer<typeof ChangeClass>;

export const Reason = z.object({
  path: z
    .string()
    .describe("RFC 6901 pointer in the capability or header, in the new version if the place still exists there."),
  classification: Classification.exclude(["removed"]),
  message: z.string(),
});
export type Reason = z.infer<typeof Reason>;

/** A reason as the change log has it. */
export const LogReason = Reason.extend({ classification: ChangeClass.exclude(["removed"]) });
export type LogReason = z.infer<typeof LogReason>;

export interface Classified {
  classification: Reason["classification"];
  /** Breaking first, then additive, then cosmetic. */
  reasons: Reason[];
}

/** Enough to act on. Without a limit, a rewrite of a large schema would fill the change log. */
const maxReasons = 50;

/** Names in a document can have any length; reasons quote them and are stored in the change log. */
const maxPathLength = 512;
const maxMessageLength = 256;

/** Collects the reasons for a classification. The worst reason decides. */
export interface ReasonCollector {
  breaking(path: string, message: string): void;
  additive(path: string, message: string): void;
  cosmetic(path: string, message: string): void;
  isEmpty(): boolean;
  verdict(): Classified;
}

/** The pointer, or that of the closest ancestor within the length limit. */
function nearest(path: string): string {
  return path.length <= maxPathLength ? path : path.slice(0, path.lastIndexOf("/", maxPathLength));
}

/** With the ellipsis, the text is as long as the limit. */
function clipped(message: string): string {
  return message.length <= maxMessageLength ? message : clip(message, maxMessageLength - 1);
}

export function createReasonCollector(): ReasonCollector {
  const kept = { breaking: [] as Reason[], additive: [] as Reason[], cosmetic: [] as Reason[] };
  const add = (classification: Reason["classification"]) => (path: string, message: string) => {
    const list = kept[classification];
    if (list.length < maxReasons) list.push({ path: nearest(path), classification, message: clipped(message) });
  };
  const all = () => [...kept.breaking, ...kept.additive, ...kept.cosmetic];
  return {
    breaking: add("breaking"),
    additive: add("additive"),
    cosmetic: add("cosmetic"),
    isEmpty: () => all().length === 0,
    verdict: () => {
      const reasons = all().slice(0, maxReasons);
      return { classification: reasons[0]?.classification ?? "cosmetic", reasons };
    },
  };
}
