import type { Case } from "./case.ts";
import { mcp } from "./mcp.ts";
import { reads } from "./reads.ts";
import { sessions } from "./sessions.ts";
import { writes } from "./writes.ts";

export const cases: readonly Case[] = [...reads, ...sessions, ...mcp, ...writes];
