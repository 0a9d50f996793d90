import type { PageRequest } from "../reading/paged.ts";
import { wholeNumber } from "./request.ts";

/** The page that a query string asks for. */
export function pageOf({ limit, cursor }: { limit?: string; cursor?: string }): PageRequest {
  return { limit: wholeNumber("limit", limit, { min: 1, max: 100, fallback: 30 }), cursor };
}
