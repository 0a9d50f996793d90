import { type Issue, pointer } from "../../kernel/issue.ts";
import { isObject } from "../../kernel/json.ts";
import { digestPattern } from "../../kernel/names.ts";
import type { CapabilityFlag } from "../flag.ts";

/**
 * Members that only the registry may state. Answers carry them, so what is sent back may have them; they are left out of
 * what is published. A sender that states something else than the registry is told so.
 */
const stated = ["flags", "verified", "review", "pending", "tokens", "digest", "registry"] as const;

/** Members of an item that are left out. */
export const itemClaims: ReadonlySet<string> = new Set(stated);

/** Members of a manifest that are left out: also settings and state of the server, which its answers show. */
export const headerClaims: ReadonlySet<string> = new Set([
  ...stated,
  ...["status", "sources", "lastSynced", "last_synced", "generation", "warnings", "stale"],
]);

export type Claims = Record<string, unknown>;

/** What the registry says of an item or a server. */
export interface Stated {
  digest?: string;
  tokens?: number;
  flags: readonly Pick<CapabilityFlag, "rule" | "path">[];
  status?: string;
}

/** One issue for each claim that differs from what the registry says. */
export function claimIssues(claims: Claims, says: Stated, path: string): Issue[] {
  return Object.entries(claims).flatMap(([key, claim]): Issue[] => {
    const message = differs(key, claim, says) ? messages[key] : undefined;
    return message === undefined ? [] : [{ path: pointer(path, key), rule: "registry-only", message }];
  });
}

const ignored = "is for the registry to say and was ignored";
const messages: Record<string, string> = {
  ...Object.fromEntries(stated.map((key) => [key, ignored])),
  status: "is a setting and was ignored; change it with PATCH /api/mcp/configs/{tenant}/{name}",
  sources: "are settings and were ignored; change them with PATCH /api/mcp/configs/{tenant}/{name}",
};

function differs(key: string, claim: unknown, says: Stated): boolean {
  switch (key) {
    case "digest":
    case "tokens":
      return claim !== null && claim !== says[key];
    case "status":
      return claim !== (says.status ?? "active");
    case "flags":
      return !isSameFlags(claim, says.flags);
    // What the registry printed of any version names its digest. It may be sent back with the item edited.
    case "registry":
      if (isObject(claim) && Object.hasOwn(claim, "digest") && isPrinted(claim.digest)) return false;
      return !isObject(claim) || Object.entries(claim).some(([inner, value]) => differsInside(inner, value, says));
    // Nothing is verified, reviewed or pending yet, so only a claim of the opposite differs.
    case "verified":
    case "pending":
    case "review":
      return claim !== false && claim !== null;
    // Answers list the state of each source; a config has its address.
    case "sources":
      return !Array.isArray(claim) || claim.some((source) => !isObject(source) || source.since === undefined);
    default:
      return false;
  }
}

/** Of the member `registry` only what is stated elsewhere too is compared; the rest moves with time. */
function differsInside(key: string, claim: unknown, says: Stated): boolean {
  return key !== "registry" && (stated as readonly string[]).includes(key) && differs(key, claim, says);
}

function isSameFlags(claim: unknown, flags: Stated["flags"]): boolean {
  if (!Array.isArray(claim)) return claim === null;
  const keyOf = (flag: unknown) => (isObject(flag) ? JSON.stringify([flag.rule, flag.path]) : "");
  const claimed = new Set(claim.map(keyOf));
  const said = new Set(flags.map(keyOf));
  return claimed.size === said.size && [...claimed].every((flag) => said.has(flag));
}

function isPrinted(digest: unknown): boolean {
  return digest === null || (typeof digest === "string" && digestPattern.test(digest));
}
