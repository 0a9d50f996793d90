import { z } from "zod";
import type { Config } from "../config.ts";
import { manager } from "../http/access.ts";
import { type RequestContext, unwrap } from "../http/context.ts";
import { idempotencyHeader, idempotencyOf } from "../http/idempotency.ts";
import { type Example, operation } from "../http/operation.ts";
import { server } from "../http/parameters.ts";
import { publicOrigin } from "../http/respond.ts";
import { TenantKey } from "../kernel/names.ts";
import { writerFrom } from "../registry/write.ts";
import type { SubscriptionsDeps } from "./deps.ts";
import {
  CreatedSubscription,
  NewSubscription,
  RemovedSubscription,
  RotatedSubscription,
  SecretRotation,
  Subscription,
  SubscriptionChange,
  SubscriptionList,
  SubscriptionWithAttempts,
  TestDelivery,
} from "./schema.ts";

const listPath = "/api/subscriptions";
const onePath = "/api/subscriptions/{tenant}/{id}";

const subscriptionPath = {
  tenant: server.tenant,
  id: z
    .string()
    .describe("Id of the subscription.")
    .meta({ examples: ["sub_5f0c2a9be1d34c7788a0b1c2d3e4f506"] }),
};

/** A response with a secret must not be cached. */
const noStore = { "Cache-Control": "no-store" };

const afterCreating: Example["after"] = {
  id: "createSubscription",
  take: ({ body }) => ({ id: (body as { data: CreatedSubscription }).data.id }),
};

const createSubscription = operation({
  id: "createSubscription",
  method: "post",
  path: listPath,
  tag: "Subscriptions",
  summary: "Subscribe to the changes of a tenant",
  description: "By Standard Webhooks: one signed POST for each generation.",
  access: manager("body"),
  parameters: { headers: idempotencyHeader },
  body: { schema: NewSubscription, limit: "configBytes", invalid: "ErrorSubscriptionInvalid" },
  answers: { 201: { description: "Subscribed.", data: CreatedSubscription } },
  fails: ["ErrorAddressRefused", "ErrorTooManySubscriptions"],
  examples: {
    breaking: {
      summary: "Breaking changes only",
      body: {
        tenant: "demo",
        url: "https://ci.example.com/rollcall",
        filters: { classifications: ["breaking"] },
      },
      status: 201,
    },
  },

  async handle(services: SubscriptionsDeps, { principal, tenant, spelling, body, headers, c, answer }) {
    const { url, filters = {}, description } = body;
    const idempotency = await idempotencyOf(headers, { operation: "createSubscription", tenant, body });
    const writer = { ...writerFrom(principal, { tenant, spelling }), idempotency };
    const request = { url, filters, description, ownHost: ownHost(c, services.config) };
    const created = unwrap(await services.tenant(tenant).createSubscription(writer, request));
    return answer(201, created, { headers: noStore });
  },
});

const listSubscriptions = operation({
  id: "listSubscriptions",
  method: "get",
  path: listPath,
  tag: "Subscriptions",
  summary: "List the subscriptions to a tenant",
  access: manager("query"),
  parameters: { query: { tenant: TenantKey } },
  answers: {
    200: { description: "The subscriptions, without their secrets.", data: SubscriptionList, generation: true },
  },
  examples: { demo: { query: { tenant: "demo" } } },

  async handle(services: SubscriptionsDeps, { tenant, answer }) {
    const list = await services.tenant(tenant).subscriptions();
    return answer(200, list, { generation: list.generation, source: "object" });
  },
});

const getSubscription = operation({
  id: "getSubscription",
  method: "get",
  path: onePath,
  tag: "Subscriptions",
  summary: "Read a subscription and how its deliveries went",
  access: manager("path"),
  parameters: { path: subscriptionPath },
  answers: { 200: { description: "The subscription and its last attempts.", data: SubscriptionWithAttempts } },
  fails: ["ErrorSubscriptionNotFound"],
  examples: { demo: { after: afterCreating } },

  async handle(services: SubscriptionsDeps, { tenant, path: { id }, answer }) {
    return answer(200, unwrap(await services.tenant(tenant).subscription(id)), { source: "object" });
  },
});

const changeSubscription = operation({
  id: "changeSubscription",
  method: "patch",
  path: onePath,
  tag: "Subscriptions",
  summary: "Stop a subscription, start it again, or send it elsewhere",
  access: manager("path"),
  parameters: { path: subscriptionPath },
  body: { schema: SubscriptionChange, limit: "configBytes", invalid: "ErrorSubscriptionInvalid" },
  answers: { 200: { description: "Changed.", data: Subscription } },
  fails: ["ErrorSubscriptionNotFound", "ErrorAddressRefused"],
  examples: { stop: { body: { enabled: false }, after: afterCreating } },

  async handle(services: SubscriptionsDeps, { principal, tenant, spelling, path: { id }, body, c, answer }) {
    const writer = writerFrom(principal, { tenant, spelling });
    return answer(
      200,
      unwrap(await services.tenant(tenant).changeSubscription(writer, id, body, ownHost(c, services.config))),
    );
  },
});

const rotateSubscriptionSecret = operation({
  id: "rotateSubscriptionSecret",
  method: "post",
  path: `${onePath}/rotate`,
  tag: "Subscriptions",
  summary: "Make a new secret",
  description: "Until the overlap ends, messages are signed with the earlier one as well.",
  access: manager("path"),
  parameters: { path: subscriptionPath, headers: idempotencyHeader },
  body: { schema: SecretRotation, limit: "configBytes", invalid: "ErrorSubscriptionInvalid", whenEmpty: {} },
  answers: { 200: { description: "Rotated.", data: RotatedSubscription } },
  fails: ["ErrorSubscriptionNotFound"],
  examples: { hour: { body: { overlapSeconds: 3_600 }, after: afterCreating } },

  async handle(services: SubscriptionsDeps, { principal, tenant, spelling, path: { id }, headers, body, answer }) {
    const idempotency = await idempotencyOf(headers, { operation: "rotateSubscriptionSecret", tenant, id, body });
    const writer = { ...writerFrom(principal, { tenant, spelling }), idempotency };
    const rotated = unwrap(await services.tenant(tenant).rotateSubscription(writer, id, body.overlapSeconds));
    return answer(200, rotated, { headers: noStore });
  },
});

const testSubscription = operation({
  id: "testSubscription",
  method: "post",
  path: `${onePath}/test`,
  tag: "Subscriptions",
  summary: "Send a test message",
  description: "Once, in any state of the subscription.",
  access: manager("path"),
  parameters: { path: subscriptionPath, headers: idempotencyHeader },
  answers: { 200: { description: "Delivered or not.", data: TestDelivery } },
  fails: ["ErrorSubscriptionNotFound"],
  examples: { demo: { after: afterCreating } },

  async handle(services: SubscriptionsDeps, { principal, tenant, spelling, path: { id }, headers, answer }) {
    const idempotency = await idempotencyOf(headers, { operation: "testSubscription", tenant, id });
    const writer = { ...writerFrom(principal, { tenant, spelling }), idempotency };
    const attempt = unwrap(await services.tenant(tenant).testSubscription(writer, id));
    const { status = 0 } = attempt;
    return answer(200, { delivered: status >= 200 && status < 300, ...attempt });
  },
});

const deleteSubscription = operation({
  id: "deleteSubscription",
  method: "delete",
  path: onePath,
  tag: "Subscriptions",
  summary: "Delete a subscription and what waits for it",
  access: manager("path"),
  parameters: { path: subscriptionPath },
  answers: { 200: { description: "Deleted.", data: RemovedSubscription } },
  fails: ["ErrorSubscriptionNotFound"],
  examples: { demo: { after: afterCreating } },

  async handle(services: SubscriptionsDeps, { principal, tenant, spelling, path: { id }, answer }) {
    const writer = writerFrom(principal, { tenant, spelling });
    return answer(200, unwrap(await services.tenant(tenant).removeSubscription(writer, id)));
  },
});

/** Host that the registry was reached at, by a name of its own: its messages must not go there. */
function ownHost(c: RequestContext, config: Config): string {
  return URL.parse(publicOrigin(c, config))?.host ?? "";
}

export const subscriptionsOperations = [
  ...[createSubscription, listSubscriptions, getSubscription, changeSubscription],
  ...[rotateSubscriptionSecret, testSubscription, deleteSubscription],
];
