import { clip } from "../../kernel/text.ts";
export interface Reason {
  /** RFC 6901 pointer inside the capability or header, as it is after the change where the place still exists. */
  path: string;
  classification: "breaking" | "additive" | "cosmetic";
  message: string;
}

export interface Classified {
  classification: "breaking" | "additive" | "cosmetic";
  /** The worst first. */
  reasons: Reason[];
}

/** Enough to act on; a rewrite of a large schema would otherwise fill the change log. */
export const maxReasons = 50;

/** Names in a document can be as long as the document; what is said about them goes into a log and must not be. */
const maxPathLength = 512;
const maxMessageLength = 255;

/** Collects why a change is what it is. The worst reason decides. */
export interface ReasonCollector {
  breaking(path: string, message: string): void;
  additive(path: string, message: string): void;
  cosmetic(path: string, message: string): void;
  isEmpty(): boolean;
  verdict(): Classified;
}

/** The pointer itself, or that of the closest ancestor that is short enough. */
function nearest(path: string): string {
  return path.length <= maxPathLength ? path : path.slice(0, path.lastIndexOf("/", maxPathLength));
}

export function createReasonCollector(): ReasonCollector {
  const kept = { breaking: [] as Reason[], additive: [] as Reason[], cosmetic: [] as Reason[] };
  const add = (classification: Reason["classification"]) => (path: string, message: string) => {
    const list = kept[classification];
    if (list.length < maxReasons)
      list.push({ path: nearest(path), classification, message: clip(message, maxMessageLength) });
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
