import { describe, expect, it } from "vitest";
import { z } from "zod";
import { anyone, manager } from "../../../src/http/access.ts";
import { cacheBypassHeaders } from "../../../src/http/declared-headers.ts";
import type { HttpDeps } from "../../../src/http/deps.ts";
import { operation } from "../../../src/http/operation.ts";
import { server, whole } from "../../../src/http/parameters.ts";

const Thing = z.object({ count: z.int(), title: z.string().optional() });

/** Compiling is the test: each expected error is one that a handler could make. */
const things = operation({
  id: "things",
  method: "put",
  path: "/things/{tenant}/{name}",
  tag: "Find",
  summary: "Things",
  access: manager("path"),
  parameters: { path: server, query: { limit: whole(1, 9).default(3) } },
  body: { schema: Thing, limit: "configBytes" },
  answers: { 200: { description: "A thing.", data: Thing }, 204: { description: "Nothing." } },

  handle(_: HttpDeps, { principal, tenant, path, query, body, answer }) {
    const known: [string, string, string, number, number] = [
      principal.subject,
      tenant,
      path.name,
      query.limit,
      body.count,
    ];
    expect(known).toBeDefined();
    // @ts-expect-error: a status that is not declared
    answer(201, { count: 1 });
    // @ts-expect-error: data that does not fit
    answer(200, { count: "1" });
    // @ts-expect-error: no data
    answer(200);
    // @ts-expect-error: a parameter that is not declared
    expect(query.offset).toBeUndefined();
    // @ts-expect-error: a member that the body does not have
    expect(body.size).toBeUndefined();
    return answer(query.limit > 1 ? 200 : 204, undefined as never);
  },
});

operation({
  id: "other",
  method: "get",
  path: "/other",
  tag: "Find",
  summary: "Others",
  access: anyone,
  answers: { 200: { description: "A thing.", json: Thing } },

  // @ts-expect-error: a response that `answer` did not make
  handle: (_: HttpDeps, { principal }) => new Response(principal.subject),
});

describe("an operation", () => {
  const cached = (...names: string[]) => ({
    ...things,
    cached: true as const,
    parameters: { headers: Object.fromEntries(names.map((name) => [name, z.string().optional()])) },
  });

  it("says which headers a cached response does not answer to", () => {
    expect(cacheBypassHeaders([cached("Accept", "If-None-Match"), cached("Cache-Control", "Accept"), things])).toEqual([
      "accept",
      "cache-control",
    ]);
  });
});
