import { checkTenantScope } from "../auth/principal.ts";
import { parseBody, readDocument } from "../http/body.ts";
import { type App, type RequestContext, requestError, throwIf, unwrap } from "../http/context.ts";
import { authenticate, readQuery, tenantName } from "../http/request.ts";
import { publicOrigin, sendData } from "../http/respond.ts";
import { type TenantKey, tenantKey } from "../kernel/names.ts";
import { generateSecret, importVerifyingKey } from "../webhooks/keys.ts";
import type { HookKey } from "./contract.ts";
import type { HooksDeps } from "./deps.ts";
import { HookChange, HookEventType, HookRequest, KeyRotation } from "./schema.ts";

const collection = "/api/hooks";
const item = "/api/hooks/:tenant/:id";

/** Routes to register, read, rotate, disable and delete inbound webhooks, for callers who may publish. */
export function hooksRoutes(app: App, services: HooksDeps): void {
  const object = (tenant: TenantKey) => services.tenant(tenant);
  const { configBytes: bytes, depth } = services.config.bounds;
  const body = (c: RequestContext) => readDocument(c, { bytes, depth });

  app.post(collection, async (c) => {
    readQuery(c, []);
    const principal = await authenticate(c, services, "registry:publish");
    const request = parseBody(HookRequest, await body(c), "ErrorHookInvalid");
    const tenant = tenantKey(request.tenant);
    throwIf(checkTenantScope(principal, tenant, "registry:publish"));
    const key = await keyOf(request.publicKey);
    const { tenant: shown, ...hook } = unwrap(
      await object(tenant).registerHook(
        {
          id: crypto.randomUUID(),
          server: request.server,
          events: request.format === "github" ? ["manifest.changed"] : (request.events ?? HookEventType.options),
          format: request.format,
          signature: request.publicKey === undefined ? "secret" : "publicKey",
          key,
          description: request.description,
        },
        principal.subject,
      ),
    );
    const url = `${publicOrigin(c, services.config)}/hooks/${shown}/${hook.id}`;
    const data = { ...hook, url, secret: request.publicKey === undefined ? key.text : undefined };
    return sendData(c, services, data, { status: 201, headers: { "Cache-Control": "no-store" } });
  });

  app.get(collection, async (c) => {
    const { tenant } = readQuery(c, ["tenant"]);
    const owner = await ownerOf(c, services, tenant);
    return sendData(c, services, { items: await object(owner).hooks() });
  });

  app.get(item, async (c) => {
    readQuery(c, []);
    const owner = await ownerOf(c, services, c.req.param("tenant"));
    return sendData(c, services, unwrap(await object(owner).hook(c.req.param("id"))));
  });

  app.patch(item, async (c) => {
    readQuery(c, []);
    const owner = await ownerOf(c, services, c.req.param("tenant"));
    const { enabled, description } = parseBody(HookChange, await body(c), "ErrorHookInvalid");
    const change = {
      enabled,
      description,
    };
    return sendData(c, services, unwrap(await object(owner).changeHook(c.req.param("id"), change)));
  });

  app.post(`${item}/rotate`, async (c) => {
    readQuery(c, []);
    const owner = await ownerOf(c, services, c.req.param("tenant"));
    const document = await readDocument(c, { bytes, depth, whenEmpty: {} });
    const { overlapSeconds, publicKey } = parseBody(KeyRotation, document, "ErrorHookInvalid");
    const key = await keyOf(publicKey);
    const signature = publicKey === undefined ? "secret" : "publicKey";
    const rotation = { key, signature, overlapMs: overlapSeconds * 1_000 } as const;
    const hook = unwrap(await object(owner).rotateHook(c.req.param("id"), rotation));
    const data = { ...hook, secret: publicKey === undefined ? key.text : undefined };
    return sendData(c, services, data, { headers: { "Cache-Control": "no-store" } });
  });

  app.delete(item, async (c) => {
    readQuery(c, []);
    const owner = await ownerOf(c, services, c.req.param("tenant"));
    return sendData(c, services, unwrap(await object(owner).removeHook(c.req.param("id"))));
  });

  const allowed = { [collection]: "GET, HEAD, POST", [item]: "GET, HEAD, PATCH, DELETE", [`${item}/rotate`]: "POST" };
  for (const [path, allow] of Object.entries(allowed)) {
    app.all(path, () => {
      throw requestError("ErrorMethodNotAllowed", undefined, { allow });
    });
  }
}

/** The tenant, if the caller may publish to it. Permission is checked before any lookup. */
async function ownerOf(c: RequestContext, services: HooksDeps, tenant: string | undefined): Promise<TenantKey> {
  const principal = await authenticate(c, services, "registry:publish");
  const name = tenantName(tenant);
  throwIf(checkTenantScope(principal, name, "registry:publish"));
  return name;
}

/** The publisher's public key, or a new shared secret. */
async function keyOf(publicKey: string | undefined): Promise<HookKey> {
  const text = publicKey ?? generateSecret();
  const imported = await importVerifyingKey(text);
  if (!imported.ok) throw requestError("ErrorHookInvalid", `/publicKey is not an Ed25519 key: ${imported.error}`);
  return { id: crypto.randomUUID(), text };
}
