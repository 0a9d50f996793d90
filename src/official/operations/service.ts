import type { z } from "zod";
import { everyone } from "../../http/access.ts";
import { operation } from "../../http/operation.ts";
import { service, version } from "../../kernel/version.ts";
import { OfficialHealth, OfficialVersion, Ping } from "../answer-schema.ts";
import type { OfficialDeps } from "../deps.ts";
import { alsoV0, ignoringUnknown } from "../parameters.ts";

/** A document that is the same for every caller. */
function fixed<Schema extends z.ZodType>(
  { id, path, summary }: { id: string; path: string; summary: string },
  schema: Schema,
  body: z.output<Schema>,
) {
  return operation({
    id,
    method: "get",
    path,
    also: alsoV0(path),
    tag: "Registry API",
    summary,
    access: everyone,
    errors: "problem",
    parameters: ignoringUnknown,
    answers: { 200: { description: "The answer.", json: schema } },
    examples: { answer: {} },

    handle: (_: OfficialDeps, { answer }) => answer.raw(200, JSON.stringify(body)),
  });
}

export const serviceOperations = [
  fixed({ id: "officialPing", path: "/v0.1/ping", summary: "Check that the API answers" }, Ping, { pong: true }),
  fixed({ id: "officialHealth", path: "/v0.1/health", summary: "Check that the API is well" }, OfficialHealth, {
    status: "ok",
  }),
  fixed({ id: "officialVersion", path: "/v0.1/version", summary: "Read the registry's version" }, OfficialVersion, {
    version,
    name: service,
  }),
];
