import { manager, reader } from "../../http/access.ts";
import { unwrap } from "../../http/context.ts";
import { operation } from "../../http/operation.ts";
import { flag, reading, server, writing } from "../../http/parameters.ts";
import { Manifest } from "../../manifest/schema/manifest.ts";
import { Capabilities, PublishResult, SwitchResult } from "../answer-schema.ts";
import type { RegistryDeps } from "../deps.ts";
import { publishDocument } from "../publish.ts";
import { ItemSwitch } from "../schema.ts";
import { capabilitiesView } from "../views/capabilities.ts";
import { effectiveBy, writeMeta, writerFrom } from "../write.ts";
import { answerView, readFails } from "./answer-view.ts";

const path = "/api/mcp/capabilities/{tenant}/{name}";

const getCapabilities = operation({
  id: "getCapabilities",
  method: "get",
  path,
  tag: "Find",
  summary: "Read everything a server can do",
  access: reader,
  parameters: { path: server, headers: reading },
  answers: { 200: { description: "The capabilities.", data: Capabilities, etag: true, generation: true } },
  fails: readFails,
  cached: true,
  examples: { weather: { path: { tenant: "demo", name: "weather" } } },

  handle: (services: RegistryDeps, call) => answerView(services, call, capabilitiesView),
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
    query: { partial: flag.default(false).describe("Takes the valid items and returns the others in `rejected`.") },
    headers: writing,
  },
  body: { schema: Manifest, read: "document", limit: "manifestBytes" },
  answers: {
    200: { description: "Changed, or unchanged.", data: PublishResult, etag: true, generation: true },
    201: { description: "Created.", data: PublishResult, etag: true, generation: true },
  },
  fails: ["ErrorCapabilityCollision", "ErrorSameVersion"],
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

  async handle(
    services: RegistryDeps,
    { principal, tenant, spelling, path: ref, query: { partial }, headers, body, answer },
  ) {
    const writer = writerFrom(principal, { tenant, spelling }, headers);
    const published = unwrap(await publishDocument(services, ref, writer, body, partial));
    const { head, rejected, narrowed, ...result } = published;
    const data = {
      ...result,
      rejected: partial ? rejected : undefined,
      effectiveBy: narrowed ? effectiveBy(services.now()) : undefined,
    };
    return answer(published.outcome === "created" ? 201 : 200, data, writeMeta(head));
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
  answers: { 200: { description: "Switched.", data: SwitchResult, etag: true, generation: true } },
  fails: ["ErrorMCPServerNotFound", "ErrorCapabilityNotFound"],
  examples: {
    off: {
      path: { tenant: "demo", name: "weather" },
      body: { items: [{ kind: "tool", name: "get_forecast", enabled: false }] },
    },
  },

  async handle(services: RegistryDeps, { principal, tenant, spelling, path: { name }, headers, body, answer }) {
    const switches = body.items.map(({ kind, name: key, enabled }) => ({ kind, key, enabled }));
    const { head, generation, changed, narrowed } = unwrap(
      await services.tenant(tenant).switchItems(writerFrom(principal, { tenant, spelling }, headers), name, switches),
    );
    await services.heads.confirm(head);
    const until = narrowed ? effectiveBy(services.now()) : undefined;
    return answer(200, { generation, changed, effectiveBy: until }, writeMeta(head));
  },
});

export const capabilitiesOperations = [getCapabilities, publishManifest, switchItems];
