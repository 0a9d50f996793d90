import { z } from "zod";
import { admin } from "../http/access.ts";
import { stateText } from "../http/directory-state.ts";
import { named } from "../http/named.ts";
import { operation } from "../http/operation.ts";
import type { DirectoryDeps } from "./deps.ts";

const RebuildStep = named(
  "RebuildStep",
  z
    .strictObject({
      cursor: z.string().max(2_048).optional().describe("`nextCursor` of the step before; absent in the first step."),
    })
    .describe("One step of a rebuild."),
);

const RebuildProgress = named(
  "RebuildProgress",
  z
    .object({
      asked: z.int().describe("Tenants that were asked in this step to send everything again."),
      failed: z.array(z.string()).describe("Tenants that could not answer; they are asked again every few minutes."),
      waiting: z.int().describe("Servers of which the directory has not heard again since the first step."),
      directory: z.string().describe("State of the directory; its epoch is another after the last step."),
      nextCursor: z.string().optional().describe("For the next step; absent after the last."),
    })
    .describe("How far a rebuild is."),
);

/** Tenants asked at once: each sends everything it has. */
const atOnce = 10;

const rebuildDirectory = operation({
  id: "rebuildDirectory",
  method: "post",
  path: "/api/directory/rebuild",
  tag: "Service",
  summary: "Rebuild the directory from the tenants",
  description:
    "Admins only, for a directory that was lost or damaged. Step by step: send `nextCursor` back until there is none. Every tenant with a head in KV sends its servers again; reads go on meanwhile. The last step starts a new epoch, whose segments are written anew.",
  access: admin("Only admins rebuild the directory"),
  body: { schema: RebuildStep, limit: "configBytes", whenEmpty: {} },
  answers: { 200: { description: "One step is done.", data: RebuildProgress } },
  examples: {},

  async handle(services: DirectoryDeps, { body: { cursor }, answer }) {
    const directory = services.directory();
    if (cursor === undefined) await directory.beginRebuild();
    const { tenants, cursor: nextCursor } = await services.storedTenants(cursor);
    const failed: string[] = [];
    for (let at = 0; at < tenants.length; at += atOnce) {
      await Promise.all(
        tenants.slice(at, at + atOnce).map((tenant) =>
          services
            .tenant(tenant)
            .resendToDirectory()
            .catch(() => void failed.push(tenant)),
        ),
      );
    }
    const { waiting, ...state } = await services.directory().continueRebuild(nextCursor === undefined);
    return answer(200, { asked: tenants.length, failed, waiting, directory: stateText(state), nextCursor });
  },
});

export const directoryOperations = [rebuildDirectory];
