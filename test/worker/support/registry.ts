import { createExecutionContext, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { SignJWT } from "jose";
import { createFetch } from "../../../src/app.ts";
import { readJson } from "../../../src/kernel/read-json.ts";
import type { TenantObject } from "../../../src/objects/tenant/tenant-object.ts";
import { createServices, type ServiceOverrides, type Services } from "../../../src/services.ts";
import { checkAnswer } from "./check-answer.ts";

export const secret = new TextEncoder().encode("a-secret-for-tests-that-is-long-enough");

export interface Claims {
  sub?: string;
  tenants?: string[];
  scope?: string;
  admin?: boolean;
}

/** A token as the token command would make it. */
export function token(claims: Claims, now = Date.now()): Promise<string> {
  return new SignJWT({ scope: "registry:read registry:publish", ...claims })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .setSubject(claims.sub ?? "tester")
    .setIssuer("rollcall")
    .setAudience("rollcall")
    .setIssuedAt(Math.floor(now / 1_000))
    .setExpirationTime(Math.floor(now / 1_000) + 3_600)
    .sign(secret);
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the answer holds
  body: any;
}

/** What is sent as it is; anything else becomes JSON. */
function isRaw(body: unknown): body is string | Uint8Array | ReadableStream | undefined {
  return body === undefined || typeof body === "string" || body instanceof Uint8Array || body instanceof ReadableStream;
}

interface RequestOptions {
  token?: string;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** One isolate of the Worker: its own memory, and by default the shared KV, cache and clock. */
export class Registry {
  readonly services: Services;
  readonly #answer: ReturnType<typeof createFetch>;

  constructor(surroundings: ServiceOverrides & { vars?: Partial<Env> | Record<string, string> } = {}) {
    const { vars, ...rest } = surroundings;
    this.services = createServices(vars === undefined ? env : ({ ...env, ...vars } as Env), rest);
    this.#answer = createFetch(this.services);
  }

  /** The response as it comes: for what streams, or for a client that leaves. */
  async fetch(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
    const headers = new Headers(options.headers);
    if (options.token !== undefined) headers.set("Authorization", `Bearer ${options.token}`);
    const { body } = options;
    const raw = isRaw(body) ? body : JSON.stringify(body);
    const request = new Request(`https://registry.test${path}`, {
      method,
      headers,
      ...(raw === undefined ? {} : { body: raw }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    const response = await this.#answer(request, env, createExecutionContext());
    checkAnswer(method, request.url, response, undefined);
    return response;
  }

  async send(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const response = await this.fetch(method, path, options);
    const text = await response.text();
    checkAnswer(method, `https://registry.test${path}`, response, text);
    const json = response.headers.get("Content-Type")?.includes("json") && text !== "";
    return { status: response.status, headers: response.headers, text, body: json ? readJson(text) : undefined };
  }
}

export const capabilities = (tenant: string, name: string) => `/api/mcp/capabilities/${tenant}/${name}`;

export const configs = "/api/mcp/configs";
export const config = (tenant: string, name: string) => `${configs}/${tenant}/${name}`;

/** A manifest with tools of the given names. */
export function tools(...names: string[]) {
  return {
    tools: names.map((name) => ({
      name,
      description: `Does ${name}.`,
      inputSchema: { type: "object", properties: { a: { type: "number" } } },
    })),
  };
}

/** Everything the tenant owes KV and the directory, done. */
export async function drained(tenant: string): Promise<void> {
  const stub = env.TENANTS.get(env.TENANTS.idFromName(tenant));
  await runInDurableObject(stub, async (object, state) => {
    state.storage.sql.exec("UPDATE outbox SET due_at = 0 WHERE task <> 'settle'");
    await (object as unknown as TenantObject).alarm();
  });
}
