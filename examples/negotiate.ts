/**
 * One program, three clients: one that can do everything, one that can only call tools, one that declares nothing.
 *
 *   node examples/negotiate.ts [http://127.0.0.1:8787]      with a token, if any, in ROLLCALL_TOKEN
 */
import process from "node:process";

const registry = (process.argv[2] ?? "http://127.0.0.1:8787").replace(/\/$/, "");
const token = process.env.ROLLCALL_TOKEN;

const everything = [
  ...["sampling", "notifications", "progress_tracking", "cancellation", "streaming", "batch_requests"],
  ...["session_resume", "dev.rollcall/context"],
];
const wish = { task: "tell a reader what the weather will be, and find a book", budget: 700 };
/** Ten at most are wanted, though the registry would give more: the smaller number is settled. */
const few = { name: "dev.rollcall/context", version: "1.0.0", description: "", parameters: { max_items: 10 } };

interface Item {
  id: string;
  tenant: string;
  server: string;
  kind: string;
  digest: string;
  tokens: number;
  why: string;
  rank?: number;
}

interface Settled {
  name: string;
  version: string;
  parameters?: object;
}

interface Opened {
  negotiated: { capabilities: Settled[]; declined: { name: string; message: string }[] };
  extensions: { "dev.rollcall/context"?: { used_tokens: number; items: Item[]; left_out: { message: string }[] } };
  session: { id: string; resume_token?: string };
}

type Outcome = { result: unknown } | { error: string; code: string };

/** The registry said no. `code` tells a program why; the message tells a person. */
class Refused extends Error {
  readonly code: string;
  constructor({ error, code }: { error: string; code: string }) {
    super(error);
    this.code = code;
  }
}

/** The session id goes into a header of every request, beside the token: a session does not replace it. */
async function request(method: string, path: string, { session = "", body = undefined as unknown, accept = "*/*" }) {
  const response = await fetch(`${registry}${path}`, {
    method,
    headers: {
      Accept: accept,
      ...(token ? { Authorization: `Bearer ${token}` } : {}),
      ...(session ? { "X-MCP-Session-ID": session } : {}),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (response.ok) return response;
  const answer = await response.json().catch(() => undefined);
  if (typeof answer?.error !== "string") throw new Error(`${registry} answered ${response.status}: is it a registry?`);
  throw new Refused(answer);
}

/** Calls a tool and takes the answer as it comes: progress and then the result, or the result alone. */
async function call(session: string, tool: string, input: unknown): Promise<unknown> {
  const accept = "text/event-stream, application/json";
  const response = await request("POST", `/mcp/tool/${tool}`, { session, body: input, accept });
  const type = response.headers.get("Content-Type")?.split(";")[0];
  console.log(`${tool} answers as ${type}`);
  if (type !== "text/event-stream" || response.body === null) return response.json();
  for await (const { event, data } of events(response.body)) {
    if (event === "progress") console.log(`  progress: ${(data as { message: string }).message}`);
    if (event === "result") return data;
    if (event === "error") throw new Refused(data as { error: string; code: string });
  }
  throw new Error(`${tool} ended without a result`);
}

/** The registry writes one data line an event, and a blank line after it. */
async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<{ event: string; data: unknown }> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const [event, data] = ["event", "data"].map((name) => block.match(`(?:^|\n)${name}: (.*)`)?.[1]);
      if (event !== undefined && data !== undefined) yield { event, data: JSON.parse(data) };
    }
  }
}

/** Several calls of one tool: in one request where that was agreed on, one after the other where it was refused. */
async function callEach(session: string, tool: string, inputs: object[]): Promise<Outcome[]> {
  try {
    return (await call(session, tool, inputs)) as Outcome[];
  } catch (error) {
    if (!(error instanceof Refused && error.code === "ErrorCapabilityRequired")) throw error;
    console.log(`batch refused: ${error.message}; one by one, then`);
  }
  const outcomes: Outcome[] = [];
  for (const input of inputs) outcomes.push({ result: await call(session, tool, input) });
  return outcomes;
}

/** Opens a session, works in it, and ends it whatever happens. */
async function inSession<T>(title: string, capabilities: string[], work: (opened: Opened) => Promise<T>): Promise<T> {
  console.log(`\n== ${title}`);
  const choosing = capabilities.includes("dev.rollcall/context");
  const body = {
    client_name: "negotiate.ts",
    client_version: "1.0.0",
    supported_capabilities: capabilities,
    ...(choosing ? { capability_details: { few }, extensions: { "dev.rollcall/context": wish } } : {}),
  };
  const opened = (await (await request("POST", "/mcp/negotiate", { body })).json()) as Opened;
  const { capabilities: settled, declined } = opened.negotiated;
  console.log(settled.length > 0 ? "settled:" : "settled: nothing");
  for (const { name, version, parameters } of settled) {
    console.log(`  ${name} ${version}${parameters ? ` ${JSON.stringify(parameters)}` : ""}`);
  }
  for (const { name, message } of declined) console.log(`declined: ${name}: ${message}`);
  try {
    return await work(opened);
  } finally {
    await request("DELETE", "/mcp/session", { session: opened.session.id });
    console.log("session ended");
  }
}

async function readServer(session: string): Promise<void> {
  const response = await request("GET", "/mcp/resource?uri=capabilities://server", { session });
  const { name, version } = (await response.json()) as { name: string; version: string };
  console.log(`resource capabilities://server: ${name} ${version}`);
}

/** For what a client did not declare: prints how that is told. */
async function expectRefusal(what: string, work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    console.log(`${what} refused: ${error.message}`);
    return;
  }
  throw new Error(`${what} was not refused`);
}

async function useTools(session: string, items: Item[]): Promise<void> {
  const { items: servers } = (await call(session, "list_servers", {})) as { items: { tenant: string; name: string }[] };
  console.log(`  servers: ${servers.map(({ tenant, name }) => `${tenant}/${name}`).join(", ")}`);
  const inputs = items.map(({ tenant, id }) => ({ tenant, id }));
  for (const [index, outcome] of (await callEach(session, "get_capability", inputs)).entries()) {
    if ("error" in outcome) throw new Refused(outcome);
    const { capability } = outcome.result as { capability: { id: string; registry: { digest: string } } };
    const same = capability.registry.digest === items[index]?.digest;
    console.log(`  definition of ${capability.id}: ${same ? "as chosen" : "changed since it was chosen"}`);
  }
  await readServer(session);
}

async function full(opened: Opened): Promise<Item[]> {
  const context = opened.extensions["dev.rollcall/context"];
  if (context === undefined || context.items.length === 0) {
    throw new Error("Nothing in this registry fits the task. `npm start` runs one with a demo catalogue.");
  }
  console.log(`chosen: ${context.items.length} items for ${context.used_tokens} of ${wish.budget} tokens`);
  for (const { tokens, kind, id, tenant, server, why, rank } of context.items) {
    console.log(`  ${tokens} tokens: ${kind} ${id} of ${tenant}/${server} (${why}${rank ? `, rank ${rank}` : ""})`);
  }
  console.log(`left out: ${context.left_out.length}`);
  await useTools(opened.session.id, context.items);

  // Usually done when the session has expired; the old id and the old token are spent with it.
  const resumed = await request("POST", "/mcp/session/resume", {
    body: { resume_token: opened.session.resume_token },
  });
  opened.session = ((await resumed.json()) as Opened).session;
  console.log("resumed under a new id");

  const response = await request("GET", "/mcp/session/changes", { session: opened.session.id });
  const { changes } = (await response.json()) as { changes: unknown[] };
  console.log(`changes since the choice: ${changes.length}`);
  return context.items;
}

async function main(): Promise<void> {
  const items = await inSession("a client that can do everything", everything, full);
  await inSession("a client that can only call tools", ["sampling"], ({ session }) => useTools(session.id, items));
  await inSession("a client that declares nothing", [], async ({ session }) => {
    await expectRefusal("tool", call(session.id, "list_servers", {}));
    await expectRefusal("stream", request("GET", "/mcp/subscription/stream", { session: session.id }));
    await readServer(session.id);
  });
}

main().catch((error: Error) => {
  // fetch says only that it failed; its cause says why.
  console.error(`negotiate.ts: ${error.message}${error.cause instanceof Error ? `: ${error.cause.message}` : ""}`);
  process.exitCode = 1;
});
