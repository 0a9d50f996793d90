import type { ProbeState } from "../domain/head.ts";
import type { SourceFailureReason } from "./introspection.ts";

/** What a failure to read says about the server behind a source. */
export function probeState(reason: SourceFailureReason): Exclude<ProbeState, "live" | "pending"> {
  switch (reason) {
    case "gated":
      return "gated";
    case "not-mcp":
    case "unsupported-version":
      return "not-mcp";
    case "error":
    case "unavailable":
    case "refused":
    case "timeout":
    case "too-large":
    case "unreachable":
      return "unreachable";
  }
}
