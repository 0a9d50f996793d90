import { z } from "zod";
import { anyone, manager, reader } from "../../http/access.ts";
import { throwIf, unwrap } from "../../http/context.ts";
import { operation } from "../../http/operation.ts";
import { flag, list, reading, server, writing } from "../../http/parameters.ts";
import { Digest } from "../../kernel/names.ts";
import { Manifest } from "../../manifest/schema/manifest.ts";
import { checkManager } from "../access.ts";
import { Capabilities, PublishResult, SwitchResult } from "../answer-schema.ts";
import type { RegistryDeps } from "../deps.ts";
import { publishDocument } from "../publish.ts";
import { dryRunHeaders, publishMeta, publishResult } from "../publish-answer.ts";
import { ItemSwitch } from "../schema.ts";
import { capabilitiesView, managedView } from "../views/capabilities.ts";
import { effectiveBy, writeMeta, writerFrom } from "../write.ts";
import { answerView, offerFails } from "./answer-view.ts";

const path = "/api/mcp/capabilities/{tenant}/{name}";

const getCapabilities = operation({
  id: "getCapabilities",
  method: "get",
  path,
  tag: "Find",
  summary: "Read everything a server can do",
  access: reader,
  parameters: {
    path: server,
    query: {
      include: z.literal("disabled").optional().describe("Shows switched-off items too, to members who may publish."),
    },
    headers: reading,
  },
  answers: { 200: { description: "The capabilities.", data: Capabilities, etag: true, generation: true } },
  fails: [...offerFails, "ErrorInsufficientScope"],
  cached: true,
  examples: { weather: { path: { tenant: "demo", name: "weather" } } },

  handle(services: RegistryDeps, call) {
    if (call.query.include === undefined) return answerView(services, call, capabilitiesView);
    throwIf(checkManager(call.principal, call.path.tenant));
    return answerView(services, call, managedView);
  },
});

/** The same view on a path that needs no token: `/api/mcp/capabilities` answers 401 to callers without one. */
const getCatalogServer = operation({
  id: "getCatalogServer",
  method: "get",
  path: "/api/catalog/{tenant}/{name}",
  tag: "Find",
  summary: "Read a public server",
  description:
    "Everything a server can do, with what the registry knows of it. A public server needs no token; members read their others here, too.",
  access: anyone,
  parameters: {
    path: server,
    query: {
      digest: Digest.optional().describe(
        "Only this manifest, and only if it is public: 404 if the server has another digest now. Flags and status are those of now.",
      ),
    },
    headers: reading,
  },
  answers: { 200: { description: "The capabilities.", data: Capabilities, etag: true, generation: true } },
  fails: [...offerFails, "ErrorRevisionNotFound"],
  cached: true,
  examples: { weather: { path: { tenant: "demo", name: "weather" } } },

  handle: (services: RegistryDeps, call) => answerView(services, call, capabilitiesView, call.query.digest),
});

const publishManifest = operation({
  id: "publishManifest",
  method: "put",
  path,
  tag: "Publish",
  summary: "Publish a manifest",
  description: "All or nothing, unless `partial`. The answer says what changed, and at which generation.",
  access: manager("path"),
  parameters: {
    path: server,
    query: {
      partial: flag.default(false).describe("Takes the valid items and returns the others in `rejected`."),
      dryRun: flag.default(false).describe("Answers what publishing would do, and publishes nothing."),
      sections: list(z.string().min(1).max(256))
        .optional()
        .describe("Sections of the publisher's own, by name, that the manifest may consist of."),
      include: z
        .literal("disabled")
        .optional()
        .describe("The sender has seen the switched-off items: those that are absent are removed."),
    },
    headers: writing,
  },
  heavy: "by-size",
  body: { schema: Manifest, read: "document", limit: "manifestBytes" },
  answers: {
    200: {
      description: "Changed, unchanged, or a dry run.",
      data: PublishResult,
      headers: dryRunHeaders,
      directory: "sometimes",
    },
    201: { description: "Created.", data: PublishResult, etag: true, generation: true, directory: "sometimes" },
  },
  fails: ["ErrorCapabilityCollision", "ErrorSameVersion", "ErrorPublishSuperseded"],
  examples: {
    calculator: {
      path: { tenant: "demo", name: "calculator" },
      body: {
        version: "1.0.0",
        tools: [
          {
            name: "add",
            description: "Adds two numbers.",
            inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
          },
        ],
      },
      status: 201,
    },
  },

  async handle(services: RegistryDeps, { principal, tenant, spelling, path: ref, query, headers, body, answer }) {
    const { partial, dryRun, sections: confirmed, include } = query;
    const writer = writerFrom(principal, { tenant, spelling }, headers);
    const placement = { by: "push", includesDisabled: include !== undefined } as const;
    const options = { partial, dryRun, confirmed, placement };
    const published = unwrap(await publishDocument(services, ref, writer, body, options));
    const { status, ...meta } = publishMeta(published);
    return answer(status, publishResult(published, options, services.now()), meta);
  },
});

const switchItems = operation({
  id: "switchItems",
  method: "patch",
  path,
  tag: "Publish",
  summary: "Switch items on or off",
  description: "Without a new manifest. All of the items, or none.",
  access: manager("path"),
  parameters: { path: server, headers: { "If-Match": writing["If-Match"] } },
  body: { schema: ItemSwitch, limit: "configBytes" },
  answers: {
    200: { description: "Switched.", data: SwitchResult, etag: true, generation: true, directory: "sometimes" },
  },
  fails: ["ErrorMCPServerNotFound", "ErrorCapabilityNotFound"],
  examples: {
    off: {
      path: { tenant: "demo", name: "weather" },
      body: { items: [{ kind: "tool", name: "get_forecast", enabled: false }] },
    },
  },

  async handle(services: RegistryDeps, { principal, tenant, spelling, path: { name }, headers, body, answer }) {
    const switches = body.items.map(({ kind, name: key, enabled }) => ({ kind, key, enabled }));
    const { head, generation, changed, narrowed, directory } = unwrap(
      await services.tenant(tenant).switchItems(writerFrom(principal, { tenant, spelling }, headers), name, switches),
    );
    await services.heads.confirm(head, directory);
    const until = narrowed ? effectiveBy(services.now()) : undefined;
    return answer(200, { generation, changed, effectiveBy: until }, writeMeta({ head, directory }));
  },
});

export const capabilitiesOperations = [getCapabilities, getCatalogServer, publishManifest, switchItems];
