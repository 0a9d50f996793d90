import type { Exchange, Received } from "../harness/exchange.ts";
import { receive } from "../harness/load.ts";
import { prepare, type Target } from "../harness/target.ts";

/** One tenant's costly work, beside which another tenant reads. */
export interface Work {
  name: string;
  /** Requests that must be answered with one of `statuses`, at most `atOnce` of them at a time. */
  requests: Exchange[];
  atOnce: number;
  statuses: number[];
}

/** How large the works are; the short form has the same works, smaller. */
export interface WorkSizes {
  tools: number;
  operations: number;
  jsonBytes: number;
  yamlBytes: number;
  searches: number;
}

export const wholeSizes: WorkSizes = {
  tools: 10_000,
  operations: 600,
  jsonBytes: 16 * 1024 * 1024,
  yamlBytes: 512 * 1024,
  searches: 200,
};

export const shortSizes: WorkSizes = {
  tools: 2_500,
  operations: 200,
  jsonBytes: 4 * 1024 * 1024,
  yamlBytes: 128 * 1024,
  searches: 40,
};

const tenant = "heavy";

/** Lets the whole index of the large tenant be read. */
async function advertiseIndex(target: Target, headers: Record<string, string>): Promise<void> {
  const variants = { summary: true, stats: true };
  await prepare(target, "PUT", `/api/index/${tenant}/advertise`, headers, { advertiseResources: true, variants });
}

/** The works in the order in which they are done: the index and the searches find what was published before. */
export async function prepareWorks(target: Target, sizes: WorkSizes): Promise<Work[]> {
  const caller = (subject: string) => target.callerOf([tenant], { subject });
  const one = await caller("heavy one");
  const two = await caller("heavy two");
  await advertiseIndex(target, one);
  const published = [200, 201];
  const importing = (format: string, name: string, type: string, body: string, headers = one): Exchange => ({
    method: "POST",
    path: `/api/import/${format}?tenant=${tenant}&name=${name}`,
    headers: { ...headers, "Content-Type": type },
    body,
  });
  const publishing = (version: number): Exchange => ({
    method: "PUT",
    path: `/api/mcp/capabilities/${tenant}/tools`,
    headers: { ...one, "Content-Type": "application/json" },
    body: JSON.stringify({ tools: toolsOf(sizes.tools, version) }),
  });
  const ring = ringOfTypes(250);
  const count = sizes.tools.toLocaleString("en");
  const works: Work[] = [
    {
      name: "GraphQL, 250 types that refer to each other, twice at once",
      requests: [
        importing("graphql", "ring-one", "application/graphql", ring),
        importing("graphql", "ring-two", "application/graphql", ring, two),
      ],
      atOnce: 2,
      statuses: published,
    },
    {
      name: `OpenAPI, ${sizes.operations} operations`,
      requests: [importing("openapi", "api", "application/json", JSON.stringify(openApiOf(sizes.operations, 0)))],
      atOnce: 1,
      statuses: published,
    },
    { name: `manifest of ${count} tools, new`, requests: [publishing(0)], atOnce: 1, statuses: published },
    { name: `manifest of ${count} tools, one changed`, requests: [publishing(1)], atOnce: 1, statuses: published },
    { name: `manifest of ${count} tools, unchanged`, requests: [publishing(1)], atOnce: 1, statuses: published },
    {
      name: `JSON import of ${sizes.jsonBytes / 1_048_576} MiB`,
      requests: [
        importing("openapi", "large", "application/json", sized(openApiOf(sizes.operations, 1), sizes.jsonBytes)),
      ],
      atOnce: 1,
      statuses: published,
    },
    {
      name: `YAML of ${sizes.yamlBytes / 1_024} KiB with 1,000 aliases`,
      requests: [importing("openapi", "aliases", "application/yaml", yamlOf(sizes.yamlBytes))],
      atOnce: 1,
      statuses: published,
    },
    {
      name: "index of the large tenant",
      requests: ["summary", "stats"].map((variant) => ({
        method: "GET",
        path: `/api/index/${tenant}/${variant}`,
        headers: one,
      })),
      atOnce: 1,
      statuses: [200],
    },
    {
      name: `${sizes.searches} searches of the large tenant, 8 at a time`,
      requests: Array.from({ length: sizes.searches }, (_, index) => ({
        method: "GET",
        path: `/api/search?tenant=${tenant}&task=${encodeURIComponent(`read ${wordAt(index)} and ${wordAt(index * 7)}`)}`,
        headers: one,
      })),
      atOnce: 8,
      statuses: [200],
    },
  ];
  return works;
}

const words = ["tide", "harbour", "invoice", "calendar", "weather", "ticket", "contact", "report", "stock", "route"];

function wordAt(index: number): string {
  return words[index % words.length] ?? "";
}

/** The second version has another description of one tool. */
function toolsOf(count: number, version: number) {
  return Array.from({ length: count }, (_, index) => ({
    name: `tool_${index}`,
    description: `Reads the ${wordAt(index)} of station ${index}${index === 7 ? ` (${version})` : ""} and lists its ${wordAt(index * 3 + 1)}.`,
    inputSchema: {
      type: "object",
      properties: {
        station: { type: "string", description: `Name of the ${wordAt(index)}` },
        day: { type: "integer" },
      },
      required: ["station"],
    },
  }));
}

function ringOfTypes(size: number): string {
  const type = (index: number) => `T${index % size}`;
  const indexes = Array.from({ length: size }, (_, index) => index);
  const fields = indexes.map((index) => `q${index}(a: T${index}): Int`);
  const types = indexes.map(
    (index) => `input T${index} { a: ${type(index + 1)} b: ${type(index + 7)} c: ${type(index + 31)} d: String }`,
  );
  return `type Query { ${fields.join("\n")} }\n${types.join("\n")}`;
}

function openApiOf(operations: number, document: number) {
  const schema = (index: number) => ({
    type: "object",
    properties: {
      id: { type: "string" },
      amount: { type: "number" },
      next: { $ref: `#/components/schemas/S${(index + 1) % 100}` },
    },
  });
  const paths = Array.from({ length: operations }, (_, index) => [
    `/${wordAt(index)}/${index}`,
    {
      post: {
        operationId: `api_${document}_${index}`,
        summary: `Changes ${wordAt(index)} ${index}`,
        requestBody: { content: { "application/json": { schema: { $ref: `#/components/schemas/S${index % 100}` } } } },
        responses: { 200: { description: "Done" } },
      },
    },
  ]);
  return {
    openapi: "3.1.0",
    info: { title: "Large", version: "1.0.0" },
    servers: [{ url: "https://api.example.com" }],
    paths: Object.fromEntries(paths),
    components: {
      schemas: Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`S${index}`, schema(index)])),
    },
    "x-fill": [] as unknown[],
  };
}

/** The document as text of so many bytes: the rest is in an extension that the import reads and leaves out. */
function sized(document: ReturnType<typeof openApiOf>, bytes: number): string {
  const entry = { name: "filling", values: [1, 2.5, true, null, "some text of an extension"] };
  const each = JSON.stringify(entry).length + 1;
  const room = bytes - JSON.stringify(document).length;
  const text = JSON.stringify({ ...document, "x-fill": Array(Math.floor(room / each)).fill(entry) });
  return text.padEnd(bytes);
}

function yamlOf(bytes: number): string {
  const head = "openapi: 3.1.0\ninfo:\n  title: Aliases\n  version: 1.0.0\nx-shared: &shared\n  type: string\npaths:\n";
  const path = (index: number) =>
    `  /alias/${index}:\n    get:\n      operationId: aliased_${index}\n      summary: Reads ${wordAt(index)} ${index}\n      parameters:\n        - name: q\n          in: query\n          schema: *shared\n`;
  const used = Array.from({ length: 1_000 }, (_, index) => path(index)).join("");
  const few = head + used;
  const text = few.length <= bytes * 0.9 ? few : head + used.slice(0, used.lastIndexOf("  /alias/", bytes * 0.7));
  // Lists of short values are the slowest that YAML has. Expanded aliases count too, so some room is left for them.
  const line = "  - [1, 2, 3, {a: b, c: d}]\n";
  const room = Math.max(0, bytes - text.length - 16_000);
  return `${text}x-fill:\n${line.repeat(Math.floor(room / line.length))}`;
}

/** Sends the requests of a work, and again what is asked to wait. Returns how many were answered as they should. */
export async function doWork(target: Target, { name, requests, atOnce, statuses }: Work): Promise<WorkDone> {
  const left = [...requests];
  const done: WorkDone = { finished: 0, waited: 0, problems: [] };
  const sendNext = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const answer = await receive(target.url, next).catch((error): Received => {
        return { status: 0, headers: {}, body: Buffer.from(String(error)) };
      });
      if (statuses.includes(answer.status)) done.finished += 1;
      else if (answer.status === 503 && answer.headers["retry-after"] !== undefined && done.waited < 100) {
        done.waited += 1;
        left.push(next);
        await new Promise((resolve) => setTimeout(resolve, 1_000 * Number(answer.headers["retry-after"])));
      } else done.problems.push(`${name}: ${answer.status} ${answer.body.toString("utf8").slice(0, 300)}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, sendNext));
  return done;
}

export interface WorkDone {
  finished: number;
  /** Requests that were answered 503 and sent again. */
  waited: number;
  problems: string[];
}
