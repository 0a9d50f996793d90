import { z } from "zod";
import { admin } from "../http/access.ts";
import { stateText } from "../http/directory-state.ts";
import { named } from "../http/named.ts";
import { operation } from "../http/operation.ts";
import type { ResendingTenant } from "./contract.ts";
import type { DirectoryDeps } from "./deps.ts";

const RebuildStep = named(
  "RebuildStep",
  z
    .strictObject({
      cursor: z.string().max(2_048).optional().describe("`nextCursor` of the step before; absent in the first step."),
      objects: z
        .array(z.string().regex(/^[0-9a-f]{64}$/, "must be 64 hexadecimal digits"))
        .min(1)
        .max(500)
        .optional()
        .describe("Ids of tenants' objects that KV may not name: a step after the last one asks these alone."),
    })
    .refine(({ cursor, objects }) => cursor === undefined || objects === undefined, {
      message: "must not be sent together with `cursor`: objects are asked in steps of their own, after the last",
      path: ["objects"],
    })
    .describe("One step of a rebuild."),
);

const RebuildProgress = named(
  "RebuildProgress",
  z
    .object({
      asked: z.int().describe("Tenants that were asked in this step to send everything again."),
      failed: z
        .array(z.string())
        .describe("Tenants, or ids of objects, that could not answer; tenants are asked again every few minutes."),
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
    "Admins only, for a directory that was lost or damaged. Step by step: send `nextCursor` back until there is none. Every tenant with a head in KV sends its servers again; reads go on meanwhile. The last step starts a new epoch, whose segments are written anew. Tenants that KV does not name any more are asked by the ids of their objects, in further steps.",
  access: admin("Only admins rebuild the directory"),
  body: { schema: RebuildStep, limit: "configBytes", whenEmpty: {} },
  answers: { 200: { description: "One step is done.", data: RebuildProgress } },
  examples: {},

  async handle(services: DirectoryDeps, { body: { cursor, objects }, answer }) {
    const directory = services.directory();
    if (objects !== undefined) {
      const failed = await resend(objects, (id) => services.tenantById(id));
      const { waiting, ...state } = await directory.continueRebuild(false);
      return answer(200, { asked: objects.length, failed, waiting, directory: stateText(state) });
    }
    if (cursor === undefined) await directory.beginRebuild();
    const { tenants, cursor: nextCursor } = await services.storedTenants(cursor);
    const failed = await resend(tenants, (key) => services.tenant(key));
    const { waiting, ...state } = await services.directory().continueRebuild(nextCursor === undefined);
    return answer(200, { asked: tenants.length, failed, waiting, directory: stateText(state), nextCursor });
  },
});

/** Asks tenants to send everything again, some at once. Returns those that could not answer. */
async function resend<T extends string>(
  named: readonly T[],
  find: (name: T) => ResendingTenant | undefined,
): Promise<T[]> {
  const failed: T[] = [];
  const ask = async (name: T) => {
    const tenant = find(name);
    if (tenant === undefined) failed.push(name);
    else await tenant.resendToDirectory().catch(() => void failed.push(name));
  };
  for (let at = 0; at < named.length; at += atOnce) await Promise.all(named.slice(at, at + atOnce).map(ask));
  return failed;
}

export const directoryOperations = [rebuildDirectory];
