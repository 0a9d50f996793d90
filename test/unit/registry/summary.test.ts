import { expect, it } from "vitest";
import { probeOf } from "../../../src/registry/summary.ts";

it.each([
  [[], "unknown"],
  [["live", "live"], "live"],
  [["live", "pending"], "pending"],
  [["gated", "pending"], "gated"],
  [["live", "unreachable", "not-mcp"], "unreachable"],
] as const)("sources found %j make a server %s", (states, expected) => {
  expect(probeOf([...states])).toBe(expected);
});
