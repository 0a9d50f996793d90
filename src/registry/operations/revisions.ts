import { z } from "zod";
import { manager, member } from "../../http/access.ts";
import { unwrap } from "../../http/context.ts";
import { idempotencyHeader, idempotencyOf } from "../../http/idempotency.ts";
import { operation } from "../../http/operation.ts";
import { flag, freshnessFrom, page, reading, required, server, writing } from "../../http/parameters.ts";
import type { FailureCode } from "../../kernel/failure.ts";
import { Digest } from "../../kernel/names.ts";
import { PublishResult } from "../answer-schema.ts";
import type { RegistryDeps } from "../deps.ts";
import { RevisionDiff, RevisionPage, WholeRevision } from "../history-schema.ts";
import { dryRunHeaders, publishMeta, publishResult } from "../publish-answer.ts";
import { restoreRevision as restore } from "../restore.ts";
import { diffRevisions as compare, listRevisions as listPage, readRevision, wholeRevision } from "../revisions.ts";
import { writerFrom } from "../write.ts";

const path = "/api/mcp/capabilities/{tenant}/{name}";

const digestParameter = Digest.meta({ examples: [`sha256-${"0".repeat(64)}`] });
const minGeneration = { "Rollcall-Min-Generation": reading["Rollcall-Min-Generation"] };
const revisionFails: readonly FailureCode[] = ["ErrorMCPServerNotFound", "ErrorRevisionNotFound"];

/** The current digest, from the answer of `listRevisions`. */
const current = (body: unknown): string => (body as { data: RevisionPage }).data.current ?? "";

const listRevisions = operation({
  id: "listRevisions",
  method: "get",
  path: `${path}/revisions`,
  tag: "History",
  summary: "List the revisions of a server",
  description:
    "Members of the tenant only: a public server may have been private before, and revisions have items that are switched off.",
  access: member("path"),
  parameters: { path: server, query: page(30), aliases: { cursor: ["before"] }, headers: minGeneration },
  answers: { 200: { description: "A page, the newest first.", data: RevisionPage, generation: true } },
  fails: ["ErrorMCPServerNotFound"],
  examples: { weather: { path: { tenant: "demo", name: "weather" }, query: { limit: 5 } } },

  async handle(services: RegistryDeps, { principal, path: ref, query, headers, answer }) {
    const { minGeneration: wanted } = freshnessFrom(headers);
    const data = unwrap(await listPage(services, principal, ref, query, wanted));
    return answer(200, data, { generation: data.generation, source: "object" });
  },
});

const getRevision = operation({
  id: "getRevision",
  method: "get",
  path: `${path}/revisions/{digest}`,
  tag: "History",
  summary: "Read one revision",
  description: "With its manifest, exactly as the digest covers it.",
  access: member("path"),
  parameters: {
    path: { ...server, digest: digestParameter },
    headers: { ...minGeneration, "If-None-Match": reading["If-None-Match"] },
  },
  answers: { 200: { description: "The revision.", data: WholeRevision, etag: true, generation: true } },
  fails: revisionFails,
  examples: {
    latest: {
      path: { tenant: "demo", name: "weather" },
      after: { id: "listRevisions", take: ({ body }) => ({ digest: current(body) }) },
    },
  },

  async handle(services: RegistryDeps, { principal, path: { digest, ...ref }, headers, answer }) {
    const { minGeneration: wanted } = freshnessFrom(headers);
    const retained = unwrap(
      await readRevision(services, principal, ref, { parameter: "digest", value: digest }, wanted),
    );
    const { revision, generation, head } = retained;
    // The revision never changes, but which of its items are switched off does.
    const meta = { etag: `"${revision.digest}.${head.overlay}.4"`, generation, source: "object" as const };
    return answer.unchanged(meta) ?? answer(200, wholeRevision(retained), meta);
  },
});

const restoreRevision = operation({
  id: "restoreRevision",
  method: "post",
  path: `${path}/revisions/{digest}/restore`,
  tag: "History",
  summary: "Make an earlier revision current",
  description: "Brings back what was pushed and registered then. What sources offer stays as it is.",
  access: manager("path"),
  parameters: {
    path: { ...server, digest: digestParameter },
    query: {
      partial: flag.default(false).describe("Leaves out items that can no longer be published."),
      dryRun: flag.default(false).describe("Answers what restoring would do, and changes nothing."),
    },
    headers: { "If-Match": writing["If-Match"], ...idempotencyHeader },
  },
  answers: {
    200: {
      description: "Restored, unchanged, or a dry run.",
      data: PublishResult,
      headers: dryRunHeaders,
      directory: "sometimes",
    },
  },
  fails: [
    ...revisionFails,
    ...([
      "ErrorMCPServerValidation",
      "ErrorCapabilityCollision",
      "ErrorSameVersion",
      "ErrorPublishSuperseded",
    ] as const),
  ],
  examples: {
    latest: {
      path: { tenant: "demo", name: "weather" },
      query: { dryRun: true },
      after: { id: "listRevisions", take: ({ body }) => ({ digest: current(body) }) },
    },
  },

  async handle(services: RegistryDeps, { principal, tenant, spelling, path, query, headers, answer }) {
    const { digest, ...ref } = path;
    const request = { operation: "restoreRevision", tenant, path, query };
    const idempotency = await idempotencyOf(headers, request);
    const writer = { ...writerFrom(principal, { tenant, spelling }, headers), idempotency };
    const restored = unwrap(await restore(services, ref, writer, digest, query));
    const { status: _, ...meta } = publishMeta(restored);
    return answer(200, publishResult(restored, query, services.now()), meta);
  },
});

const diffRevisions = operation({
  id: "diffRevisions",
  method: "get",
  path: `${path}/diff`,
  tag: "History",
  summary: "Compare two revisions",
  description: "Every change between them, classified.",
  access: member("path"),
  parameters: {
    path: server,
    query: {
      from: required(Digest.describe("Digest of the earlier revision."), "a digest"),
      to: Digest.optional().describe("Digest of the later revision; the current one if absent."),
      include: z.literal("items").optional().describe("Adds both versions of each item that changed."),
    },
    headers: minGeneration,
  },
  answers: { 200: { description: "The changes.", data: RevisionDiff, generation: true } },
  fails: revisionFails,
  examples: {
    unchanged: {
      path: { tenant: "demo", name: "weather" },
      after: { id: "listRevisions", take: ({ body }) => ({ from: current(body) }) },
    },
  },

  async handle(services: RegistryDeps, { principal, path: ref, query: { from, to, include }, headers, answer }) {
    const { minGeneration: wanted } = freshnessFrom(headers);
    const options = { minGeneration: wanted, withItems: include === "items" };
    const { diff, generation } = unwrap(await compare(services, principal, ref, { from, to }, options));
    return answer(200, diff, { generation, source: "object" });
  },
});

export const revisionsOperations = [listRevisions, getRevision, restoreRevision, diffRevisions];
