import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { createApp } from "../../../src/app.ts";
import { cacheBypassHeaders } from "../../../src/http/declared-headers.ts";
import { errorShapes } from "../../../src/http/openapi/error-schema.ts";
import type { Operation } from "../../../src/http/operation.ts";
import { operations } from "../../../src/operations.ts";
import { createServices } from "../../../src/services.ts";
import { standInForTheNetwork } from "../subscriptions/receiver.ts";
import { demoToken, loadDemo } from "../support/demo.ts";
import { firstExample, prepareExample, requestOf, runExample } from "../support/example-requests.ts";
import { type Answer, Registry, token } from "../support/registry.ts";

/** What follows from the declaration of an operation, tried with every operation. */

const registry = new Registry();
// Examples of subscriptions name receivers that do not exist.
standInForTheNetwork();
const unusual = "~never~";

let member: string;
let stranger: string;
let admin: string;
beforeAll(async () => {
  member = await demoToken();
  stranger = await token({ sub: "stranger", tenants: ["elsewhere"] });
  admin = await token({ sub: "admin", tenants: [], admin: true });
  await loadDemo(registry);
});

const label = ({ method, path }: Operation) => `${method.toUpperCase()} ${path}`;
const rows = (chosen: readonly Operation[]) => chosen.map((operation) => [label(operation), operation] as const);
const where = (test: (operation: Operation) => unknown) => rows(operations.filter((operation) => test(operation)));

/** Needs a token of an admin, or of the tenant that the examples are about. */
const isForAdmins = ({ access }: Operation) => access.fails?.includes("ErrorTenantPermissionError");
const holder = (operation: Operation) => (isForAdmins(operation) ? admin : member);

const codeOf = (operation: Operation, { body }: Answer) =>
  errorShapes[operation.errors ?? "api"].code.reduce((value, name) => value?.[name], body);
const messageOf = ({ body }: Answer): string => body.detail ?? body.error?.message ?? body.error;

/** Everything wrong at once: only the first check may answer. */
function garbage(operation: Operation) {
  const { method } = requestOf(operation);
  const path = operation.path.replaceAll(/\{\w+\}/g, unusual);
  return { method, path: `${path}?${unusual}=1`, ...(operation.body === undefined ? {} : { body: "{" }) };
}

/** The request of the first example, in a session if it needs one, with something changed. */
async function send(
  operation: Operation,
  query: string,
  bearer: string,
  more: { headers?: Record<string, string>; body?: unknown } = {},
) {
  const isInSession = "X-MCP-Session-ID" in (operation.parameters?.headers ?? {});
  const { method, path, headers, body } = isInSession
    ? await prepareExample(registry, operation, firstExample(operation), bearer)
    : requestOf(operation);
  const sent = body === undefined ? {} : { body };
  return registry.send(method, path + (path.includes("?") ? query.replace("?", "&") : query), {
    token: bearer,
    ...sent,
    ...more,
    headers: { ...headers, ...more.headers },
  });
}

describe("routes", () => {
  it("are operations, all of them", () => {
    const { routes } = createApp(createServices(env));
    const served = routes
      .filter(({ method }) => !["ALL", "OPTIONS"].includes(method))
      .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`);
    const declared = operations.flatMap((operation) =>
      [operation.path, ...(operation.also ?? [])].map((path) => label({ ...operation, path })),
    );
    expect([...new Set(served)].sort()).toEqual(declared.sort());
  });

  it("have one name each, and parameters for the braces in their paths", () => {
    const ids = operations.map(({ id }) => id);
    expect([...new Set(ids)]).toEqual(ids);
    for (const operation of operations) {
      const names = Array.from(operation.path.matchAll(/\{(\w+)\}/g), ([, name]) => name);
      expect([operation.id, Object.keys(operation.parameters?.path ?? {})]).toEqual([operation.id, names]);
    }
  });
});

describe("the response cache", () => {
  it("is bypassed by every header that a cached operation declares", async () => {
    const cached = new Registry();
    const { method, path } = requestOf(operations.find(({ id }) => id === "getCapabilities") as Operation);
    const ask = (headers: Record<string, string>) => cached.send(method, path, { token: member, headers });
    for (let turn = 0; turn < 4; turn += 1) await ask({});
    // A kept answer carries no request id.
    expect((await ask({})).headers.has("X-Request-Id")).toBe(false);
    const names = ["cache-control", "rollcall-min-directory-generation", "rollcall-min-generation"];
    expect(cacheBypassHeaders(operations)).toEqual(names);
    for (const name of names) {
      expect([name, (await ask({ [name]: "0" })).headers.has("X-Request-Id")]).toEqual([name, true]);
    }
  });
});

describe("without a token", () => {
  it.each(where(({ access }) => access.token === "required"))("%s is 401 first", async (_, operation) => {
    for (const authorization of [undefined, "Bearer made.up.token", "Basic eDp5"]) {
      const { method, path, ...sent } = garbage(operation);
      const headers = authorization === undefined ? {} : { headers: { Authorization: authorization } };
      const answer = await registry.send(method, path, { ...sent, ...headers });
      expect([answer.status, codeOf(operation, answer)]).toEqual([401, "ErrorUnauthorized"]);
      expect(answer.headers.get("WWW-Authenticate")).toContain(`scope="${operation.access.scope}"`);
    }
  });
});

describe("a token without the scope", () => {
  it.each(where(({ access }) => access.scope !== undefined))("%s is 403, and names the scope", async (_, operation) => {
    const { scope = "" } = operation.access;
    const other = ["registry:read", "registry:publish"].find((name) => name !== scope) ?? "";
    const lacking = await token({ tenants: ["demo"], admin: true, scope: other });
    const { method, path, ...sent } = garbage(operation);
    const answer = await registry.send(method, path, { token: lacking, ...sent });
    expect([answer.status, codeOf(operation, answer)]).toEqual([403, "ErrorInsufficientScope"]);
    expect(answer.headers.get("WWW-Authenticate")).toContain(`error="insufficient_scope", scope="${scope}"`);
  });
});

describe("a token of another tenant", () => {
  it.each(where(({ access }) => access.tenant))("%s is 403, whatever else is wrong", async (_, operation) => {
    const ask = async (tenant: string, query: string) => {
      const { method, path, headers, body } = requestOf(operation);
      const renamed = (value: unknown) => JSON.parse(JSON.stringify(value).replaceAll("demo", tenant));
      const at = path.replaceAll("demo", tenant);
      const inBody = operation.access.tenant?.in === "body";
      const sent = body === undefined ? {} : { body: inBody ? renamed(body) : "{" };
      const answer = await registry.send(method, at + (at.includes("?") ? query.replace("?", "&") : query), {
        token: stranger,
        headers,
        ...sent,
      });
      expect([answer.status, codeOf(operation, answer)]).toEqual([403, "ErrorTenantPermissionError"]);
      return answer.text;
    };
    const wrong = operation.access.tenant?.in === "body" ? "" : `?${unusual}=1`;
    const [there, absent, asWell] = [await ask("demo", ""), await ask("nobody", ""), await ask("demo", wrong)];
    expect([absent, asWell]).toEqual([there, there]);
  });
});

describe("an unknown parameter", () => {
  const refusing = where(({ parameters, access }) => parameters?.unknown !== "ignore" && access.verify === undefined);
  it.each(refusing)("%s refuses it and names those there are", async (_, operation) => {
    const answer = await send(operation, `?${unusual}=1`, holder(operation));
    expect([answer.status, codeOf(operation, answer)]).toEqual([400, "ErrorBadRequest"]);
    const known = Object.keys(operation.parameters?.query ?? {});
    const list = known.length === 0 ? "none" : known.join(", ");
    expect(messageOf(answer)).toBe(`Unknown query parameter "${unusual}"; known: ${list}`);
  });

  it.each(where(({ parameters }) => parameters?.unknown === "ignore"))("%s ignores it", async (_, operation) => {
    // A write stops at its body.
    const unreadable = operation.body === undefined ? {} : { body: "{" };
    const answer = await send(operation, `?${unusual}=1`, holder(operation), unreadable);
    expect(answer.text).not.toContain(unusual);
  });

  const hasLongName = ({ parameters }: Operation) =>
    Object.keys(parameters?.query ?? {}).some((name) => name.length > 3);
  it.each(where((operation) => operation.parameters?.unknown !== "ignore" && hasLongName(operation)))(
    "%s says what was probably meant",
    async (_, operation) => {
      const name = Object.keys(operation.parameters?.query ?? {}).find((known) => known.length > 3) ?? "";
      const answer = await send(operation, `?${name.slice(1)}=1`, holder(operation));
      expect(answer.text).toContain(`Did you mean ${name}?`);
    },
  );
});

describe("a parameter that is no", () => {
  const kinds = { number: "whole number", boolean: "true or false", enum: "must be one of" } as Record<string, string>;
  const typed = operations.flatMap((operation) =>
    Object.entries(operation.parameters?.query ?? {}).flatMap(([name, schema]) => {
      let { def } = schema._zod as unknown as { def: Record<string, { _zod: { def: unknown } }> & { type: string } };
      for (const inner of ["innerType", "element"]) {
        while (def[inner] !== undefined) def = def[inner]?._zod.def as typeof def;
      }
      const text = kinds[def.type];
      return text === undefined ? [] : [[`${label(operation)} ${name}`, operation, name, text] as const];
    }),
  );
  it.each(typed)("value: %s is refused", async (_, operation, name, text) => {
    const { method, path, headers, body } = requestOf(operation);
    const url = new URL(path, "https://registry.test");
    url.searchParams.set(name, "1e1");
    const answer = await registry.send(method, url.pathname + url.search, {
      token: holder(operation),
      headers,
      ...(body === undefined ? {} : { body }),
    });
    // The official registry's API has its own status for it.
    const refusal = operation.errors === "problem" ? [422, "ErrorParameterInvalid"] : [400, "ErrorBadRequest"];
    expect([answer.status, codeOf(operation, answer)]).toEqual(refusal);
    expect(messageOf(answer)).toContain(name);
    expect(messageOf(answer)).toContain(text);
  });
});

describe("a method that a path does not take", () => {
  const paths = [...Map.groupBy(operations, ({ path }) => path)];
  it.each(paths)("at %s is 405 with the methods it takes", async (_, there) => {
    const [first] = there;
    if (first === undefined) return;
    const taken = new Set(there.map(({ method }) => method.toUpperCase()));
    if (there.some(({ method, head }) => method === "get" && head !== false)) taken.add("HEAD");
    const others = ["GET", "POST", "PUT", "PATCH", "DELETE"].filter((method) => !taken.has(method));
    for (const method of others) {
      const { path } = requestOf(first);
      const answer = await registry.send(method, path.split("?")[0] ?? "");
      expect([method, answer.status, codeOf(first, answer)]).toEqual([method, 405, "ErrorMethodNotAllowed"]);
      expect(answer.headers.get("Allow")?.split(", ").sort()).toEqual([...taken].sort());
    }
  });
});

describe("a body that", () => {
  const reading = where(({ body, access }) => body && (body.read ?? "value") !== "unread" && !access.verify);
  const parsed = where(
    ({ body, access }) => body && ["value", "document"].includes(body.read ?? "value") && !access.verify,
  );

  it.each(parsed)("is no JSON: %s is 400 and says where", async (_, operation) => {
    const answer = await send(operation, "", holder(operation), { body: '{"a": [}' });
    expect([answer.status, codeOf(operation, answer)]).toEqual([400, "ErrorInvalidBody"]);
    expect(messageOf(answer)).toContain("line 1, column 8");
  });

  it.each(parsed)("is of another media type: %s is 415", async (_, operation) => {
    const answer = await send(operation, "", holder(operation), { headers: { "Content-Type": "image/png" } });
    expect([answer.status, codeOf(operation, answer)]).toEqual([415, "ErrorUnsupportedMediaType"]);
  });

  it.each(reading)("is compressed: %s is 415", async (_, operation) => {
    const answer = await send(operation, "", holder(operation), { headers: { "Content-Encoding": "gzip" } });
    expect([answer.status, codeOf(operation, answer)]).toEqual([415, "ErrorUnsupportedMediaType"]);
  });

  it.each(parsed)("is a document of another kind: %s refuses it", async (_, operation) => {
    for (const body of ["[]", "null", "7", '"text"', '{"__proto__": 1, "tools": 7}']) {
      const answer = await send(operation, "", holder(operation), { body });
      const isRefused = [400, 403, 422].includes(answer.status) || answer.body.valid === false;
      expect([body, isRefused]).toEqual([body, true]);
    }
  });
});

describe("every example", () => {
  const examples = operations.flatMap((operation) =>
    Object.entries(operation.examples ?? {}).map(
      ([name, example]) => [`${operation.id} ${name}`, operation, example] as const,
    ),
  );

  it("there is one for each operation", () => {
    expect(operations.filter(({ examples: own }) => own === undefined).map(({ id }) => id)).toEqual([]);
  });

  it.each(examples)("%s runs, and answers as declared", async (_, operation, example) => {
    const own = new Registry();
    // `send` compares the answer with the declaration.
    const answer = await runExample(own, operation, example, holder(operation));
    expect([answer.status, answer.status === (example.status ?? 200) ? "" : answer.text]).toEqual([
      example.status ?? 200,
      "",
    ]);
  });
});
