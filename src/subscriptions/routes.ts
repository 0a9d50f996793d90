import { parseBody, readDocument } from "../http/body.ts";
import { type App, type RequestContext, requestError, unwrap } from "../http/context.ts";
import { authenticate, readQuery, readTenant } from "../http/request.ts";
import { sendData } from "../http/respond.ts";
import type { NamedTenant } from "../kernel/names.ts";
import { authorizeWrite, writerOf } from "../registry/write.ts";
import type { SubscriptionsDeps } from "./deps.ts";
import { NewSubscription, SecretRotation, SubscriptionChange } from "./schema.ts";

const listPath = "/api/subscriptions";
const onePath = "/api/subscriptions/:tenant/:id";

/** A response with a secret must not be cached. */
const noStore = { "Cache-Control": "no-store" };

/** Webhook subscriptions to a tenant's changes, for callers who may publish there. */
export function subscriptionsRoutes(app: App, services: SubscriptionsDeps): void {
  const { configBytes: bytes, depth } = services.config.bounds;
  const limits = { bytes, depth };
  const object = ({ tenant }: Pick<NamedTenant, "tenant">) => services.tenant(tenant);
  // Permission is checked first: a caller without it must not learn what exists or what is wrong with the request.
  const named = async (c: RequestContext) => {
    const writer = await authorizeWrite(c, services, readTenant(c.req.param("tenant")));
    readQuery(c, []);
    return { writer, id: c.req.param("id") ?? "" };
  };

  app.post(listPath, async (c) => {
    const principal = await authenticate(c, services, "registry:publish");
    readQuery(c, []);
    const document = await readDocument(c, limits);
    const writer = writerOf(c, principal, readTenant((document.value as { tenant?: unknown } | null)?.tenant));
    const { url, filters = {}, description } = parseBody(NewSubscription, document, "ErrorSubscriptionInvalid");
    const request = { url, filters, ownHost: hostOf(c), description };
    const created = unwrap(await object(writer).createSubscription(writer, request));
    return sendData(c, services, created, { status: 201, headers: noStore });
  });

  app.get(listPath, async (c) => {
    const principal = await authenticate(c, services, "registry:publish");
    const query = readQuery(c, ["tenant"]);
    const writer = writerOf(c, principal, readTenant(query.tenant));
    const { items, generation } = await object(writer).subscriptions();
    return sendData(c, services, { items, generation }, { generation, source: "object" });
  });

  app.get(onePath, async (c) => {
    const { writer, id } = await named(c);
    return sendData(c, services, unwrap(await object(writer).subscription(id)), { source: "object" });
  });

  app.patch(onePath, async (c) => {
    const { writer, id } = await named(c);
    const change = parseBody(SubscriptionChange, await readDocument(c, limits), "ErrorSubscriptionInvalid");
    const changed = unwrap(await object(writer).changeSubscription(writer, id, change, hostOf(c)));
    return sendData(c, services, changed);
  });

  app.post(`${onePath}/rotate`, async (c) => {
    const { writer, id } = await named(c);
    const document = await readDocument(c, { ...limits, whenEmpty: {} });
    const { overlapSeconds } = parseBody(SecretRotation, document, "ErrorSubscriptionInvalid");
    const rotated = unwrap(await object(writer).rotateSubscription(writer, id, overlapSeconds));
    return sendData(c, services, rotated, { headers: noStore });
  });

  app.post(`${onePath}/test`, async (c) => {
    const { writer, id } = await named(c);
    const { status, ...attempt } = unwrap(await object(writer).testSubscription(writer, id));
    const delivered = status !== undefined && status >= 200 && status < 300;
    return sendData(c, services, { delivered, ...attempt, status });
  });

  app.delete(onePath, async (c) => {
    const { writer, id } = await named(c);
    return sendData(c, services, unwrap(await object(writer).removeSubscription(writer, id)));
  });

  app.all(listPath, () => {
    throw requestError("ErrorMethodNotAllowed", undefined, { allow: "GET, HEAD, POST" });
  });
  app.all(onePath, () => {
    throw requestError("ErrorMethodNotAllowed", undefined, { allow: "GET, HEAD, PATCH, DELETE" });
  });
  app.all(`${onePath}/rotate`, () => {
    throw requestError("ErrorMethodNotAllowed", undefined, { allow: "POST" });
  });
  app.all(`${onePath}/test`, () => {
    throw requestError("ErrorMethodNotAllowed", undefined, { allow: "POST" });
  });
}

/** Host that the registry was reached at: its own messages must not go there. */
function hostOf(c: RequestContext): string {
  return new URL(c.req.url).host;
}
