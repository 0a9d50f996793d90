import { z } from "zod";
import { manager } from "../http/access.ts";
import { unwrap } from "../http/context.ts";
import { idempotencyHeader, idempotencyOf } from "../http/idempotency.ts";
import { type Example, operation } from "../http/operation.ts";
import { server } from "../http/parameters.ts";
import { publicOrigin } from "../http/respond.ts";
import { TenantKey } from "../kernel/names.ts";
import type { HooksDeps } from "./deps.ts";
import { exampleEvent, signedBy } from "./example-event.ts";
import { chooseKey, newHook } from "./new-hook.ts";
import { receiveEvent as receive } from "./receive.ts";
import {
  EventResult,
  Hook,
  HookChange,
  HookEvent,
  HookList,
  HookRequest,
  HookWithDeliveries,
  KeyRotation,
  RegisteredHook,
  RemovedHook,
  RotatedHook,
} from "./schema.ts";
import { publisher } from "./signature.ts";

const listPath = "/api/hooks";
const onePath = "/api/hooks/{tenant}/{id}";

const hookPath = {
  tenant: server.tenant,
  id: z
    .string()
    .describe("Id of the hook.")
    .meta({ examples: ["2f6a1c9e58d14b7e9a510c3f7e4d8b20b1d0c9e8f7a6958473625140fedcba98"] }),
};

/** A response with a secret must not be cached. */
const noStore = { "Cache-Control": "no-store" };

const registered = (body: unknown) => (body as { data: RegisteredHook }).data;
const afterRegistering: Example["after"] = { id: "registerHook", take: ({ body }) => ({ id: registered(body).id }) };

const registerHook = operation({
  id: "registerHook",
  method: "post",
  path: listPath,
  tag: "Hooks",
  summary: "Register a hook",
  description: "An inbound webhook, through which the publisher of a server tells the registry of changes.",
  access: manager("body"),
  parameters: { headers: idempotencyHeader },
  body: { schema: HookRequest, limit: "configBytes", invalid: "ErrorHookInvalid" },
  answers: { 201: { description: "Registered.", data: RegisteredHook } },
  fails: ["ErrorMCPServerNotFound", "ErrorTooManyHooks"],
  examples: { weather: { body: { tenant: "demo", server: "weather", description: "From CI." }, status: 201 } },

  async handle(services: HooksDeps, { principal, tenant, body, headers, c, answer }) {
    const chosen = unwrap(await chooseKey(body.publicKey));
    const idempotency = await idempotencyOf(headers, { operation: "registerHook", tenant, body });
    const by = { subject: principal.subject, idempotency };
    const { hook, secret } = unwrap(
      await services.tenant(tenant).registerHook(newHook(services.hookIds.create(), body, chosen), by),
    );
    const url = `${publicOrigin(c, services.config)}/hooks/${hook.tenant}/${hook.id}`;
    return answer(201, { ...hook, url, secret }, { headers: noStore });
  },
});

const listHooks = operation({
  id: "listHooks",
  method: "get",
  path: listPath,
  tag: "Hooks",
  summary: "List the hooks of a tenant",
  access: manager("query"),
  parameters: { query: { tenant: TenantKey } },
  answers: { 200: { description: "The hooks, without their secrets.", data: HookList, generation: true } },
  examples: { demo: { query: { tenant: "demo" } } },

  async handle(services: HooksDeps, { tenant, answer }) {
    const hooks = await services.tenant(tenant).hooks();
    return answer(200, hooks, { generation: hooks.generation, source: "object" });
  },
});

const getHook = operation({
  id: "getHook",
  method: "get",
  path: onePath,
  tag: "Hooks",
  summary: "Read a hook and what it received",
  access: manager("path"),
  parameters: { path: hookPath },
  answers: { 200: { description: "The hook and its last deliveries.", data: HookWithDeliveries } },
  fails: ["ErrorHookNotFound"],
  examples: { demo: { after: afterRegistering } },

  async handle(services: HooksDeps, { tenant, path: { id }, answer }) {
    return answer(200, unwrap(await services.tenant(tenant).hook(id)), { source: "object" });
  },
});

const changeHook = operation({
  id: "changeHook",
  method: "patch",
  path: onePath,
  tag: "Hooks",
  summary: "Switch a hook off or on, or describe it anew",
  access: manager("path"),
  parameters: { path: hookPath },
  body: { schema: HookChange, limit: "configBytes", invalid: "ErrorHookInvalid" },
  answers: { 200: { description: "Changed, at once everywhere.", data: Hook } },
  fails: ["ErrorHookNotFound"],
  examples: { off: { body: { enabled: false }, after: afterRegistering } },

  async handle(services: HooksDeps, { tenant, path: { id }, body, answer }) {
    return answer(200, unwrap(await services.tenant(tenant).changeHook(id, body)));
  },
});

const rotateHook = operation({
  id: "rotateHook",
  method: "post",
  path: `${onePath}/rotate`,
  tag: "Hooks",
  summary: "Give a hook a new secret or key",
  description: "The earlier one stays valid until the overlap ends.",
  access: manager("path"),
  parameters: { path: hookPath, headers: idempotencyHeader },
  body: { schema: KeyRotation, limit: "configBytes", invalid: "ErrorHookInvalid", whenEmpty: {} },
  answers: { 200: { description: "Rotated.", data: RotatedHook } },
  fails: ["ErrorHookNotFound"],
  examples: { hour: { body: { overlapSeconds: 3_600 }, after: afterRegistering } },

  async handle(services: HooksDeps, { principal, tenant, path: { id }, headers, body, answer }) {
    const { key, signature } = unwrap(await chooseKey(body.publicKey));
    const rotation = { key, signature, overlapMs: body.overlapSeconds * 1_000 };
    const idempotency = await idempotencyOf(headers, { operation: "rotateHook", tenant, id, body });
    const by = { subject: principal.subject, idempotency };
    const { hook, secret } = unwrap(await services.tenant(tenant).rotateHook(id, rotation, by));
    return answer(200, { ...hook, secret }, { headers: noStore });
  },
});

const deleteHook = operation({
  id: "deleteHook",
  method: "delete",
  path: onePath,
  tag: "Hooks",
  summary: "Delete a hook",
  access: manager("path"),
  parameters: { path: hookPath },
  answers: { 200: { description: "Deleted, at once everywhere.", data: RemovedHook } },
  fails: ["ErrorHookNotFound"],
  examples: { demo: { after: afterRegistering } },

  async handle(services: HooksDeps, { tenant, path: { id }, answer }) {
    return answer(200, unwrap(await services.tenant(tenant).removeHook(id)));
  },
});

const receiveEvent = operation({
  id: "receiveEvent",
  method: "post",
  path: "/hooks/{tenant}/{id}",
  tag: "Hooks",
  summary: "Tell the registry of a change",
  description:
    "For publishers: an event, signed with the hook's secret or key. A repeated message has no further effect, and " +
    "of several events the one with the highest sequence wins.",
  access: publisher,
  parameters: {
    path: { tenant: z.string().describe("As in the hook's URL."), id: hookPath.id },
    headers: {
      "webhook-id": z.string().describe("Id of the message; a repeat has the same.").optional(),
      "webhook-timestamp": z.int().describe("When it was signed, in epoch seconds.").optional(),
      "X-Hub-Signature-256": z.string().describe("Instead of the others, for the format github.").optional(),
    },
  },
  body: { schema: HookEvent, read: "bytes", limit: "eventBytes", media: ["application/json"] },
  answers: {
    200: { description: "A dry run: nothing was published.", json: EventResult },
    202: { description: "Received.", json: EventResult },
  },
  fails: [
    ...(["ErrorHookDisabled", "ErrorHookEvent", "ErrorEventInvalid", "ErrorMCPServerValidation"] as const),
    ...(["ErrorNoSources", "ErrorSameVersion", "ErrorCapabilityCollision", "ErrorPublishSuperseded"] as const),
  ],
  examples: {
    status: {
      summary: "The server is in service",
      body: exampleEvent,
      status: 202,
      after: { id: "registerHook", take: ({ body }) => signedBy(registered(body)) },
    },
  },

  async handle(services: HooksDeps, { hook, message, keyId, body, c, answer }) {
    const { head, result, isDryRun } = unwrap(
      await receive(services, { hook, message, keyId }, body, (work) => c.executionCtx.waitUntil(work)),
    );
    return answer(isDryRun ? 200 : 202, result, { generation: head?.asOf, source: "object", headers: noStore });
  },
});

export const hooksOperations = [
  ...[registerHook, listHooks, getHook, changeHook, rotateHook, deleteHook],
  receiveEvent,
];
