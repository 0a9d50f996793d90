import { readJson } from "../../../../../src/kernel/read-json.ts";
import { readEvents } from "../../client/sse.ts";
import { CliError, exitCodes } from "../failure.ts";
import { answerTo, type Json, modernVersion, type Rpc, RpcRefusal, replyTo, withMeta } from "./rpc.ts";

const mostBytes = 32 * 1_024 * 1_024;

function unreachable(url: string, error: unknown): CliError {
  const isLate = error instanceof Error && error.name === "TimeoutError";
  return new CliError(isLate ? "The MCP server did not answer in time" : "The MCP server cannot be reached", {
    where: url,
    hint: "Check the address, and that the server runs.",
    exitCode: exitCodes.unreachable,
    code: "ErrorServerUnreachable",
  });
}

/** Text of a body, bounded: a small gzip can become a large text. */
async function boundedText(response: Response, url: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > mostBytes) throw new CliError("The MCP server's answer is larger than 32 MiB", { where: url });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Streamable HTTP, of 2026-07-28 and of the revisions before it. */
export function connectHttp(url: string, signal: AbortSignal): Rpc {
  let session: string | undefined;
  let version = "";
  let nextId = 1;

  const post = async (message: Json, timeoutMs: number): Promise<Response> => {
    const headers: Record<string, string> = {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      ...(version !== "" && { "MCP-Protocol-Version": version }),
      ...(version === modernVersion && { "Mcp-Method": String(message.method) }),
      ...(session !== undefined && { "Mcp-Session-Id": session }),
    };
    try {
      const bound = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      return await fetch(url, { method: "POST", headers, body: JSON.stringify(message), signal: bound });
    } catch (error) {
      signal.throwIfAborted();
      throw unreachable(url, error);
    }
  };

  return {
    junk: [],
    speak: (next) => {
      version = next;
    },
    async request(method, params, timeoutMs) {
      const id = nextId;
      nextId += 1;
      const isModern = version === modernVersion;
      const response = await post(
        { jsonrpc: "2.0", id, method, params: isModern ? withMeta(params) : params },
        timeoutMs,
      );
      if (!isModern) session = response.headers.get("Mcp-Session-Id") ?? session;
      if (response.status === 401 || response.status === 403) {
        throw new CliError(`The MCP server wants a sign-in (HTTP ${response.status})`, {
          where: url,
          hint: "Publish a file, or a command that reads it: rollcall publish T/NAME -- COMMAND",
          code: "ErrorServerGated",
        });
      }
      const type = response.headers.get("Content-Type") ?? "";
      if (type.startsWith("text/event-stream") && response.body !== null) {
        for await (const event of readEvents(response.body)) {
          if (event === undefined || event.data === "") continue;
          const message = readJson(event.data);
          const answer = answerTo(message, id, response.status);
          if (answer instanceof RpcRefusal) throw answer;
          if (answer !== undefined) return answer.result;
          const reply = replyTo(message as Json);
          if (reply !== undefined) await post(reply, timeoutMs).catch(() => {});
        }
        throw new RpcRefusal(0, "the stream ended without an answer", response.status);
      }
      const text = await boundedText(response, url);
      let message: unknown;
      try {
        message = readJson(text);
      } catch {
        throw new RpcRefusal(0, `HTTP ${response.status}, and not JSON`, response.status);
      }
      const answer = answerTo(message, id, response.status) ?? errorWithoutId(message, response.status);
      if (answer instanceof RpcRefusal) throw answer;
      return answer.result;
    },
    async notify(method) {
      const response = await post({ jsonrpc: "2.0", method }, 10_000);
      await response.body?.cancel();
    },
    async close() {
      if (session === undefined) return;
      const headers = { "Mcp-Session-Id": session, ...(version !== "" && { "MCP-Protocol-Version": version }) };
      await fetch(url, { method: "DELETE", headers, signal: AbortSignal.timeout(1_000) }).catch(() => {});
    },
  };
}

/** Some servers answer a refused request without its id. */
function errorWithoutId(message: unknown, status: number): RpcRefusal {
  const error = (message as { error?: { code?: number; message?: string } } | null)?.error;
  return new RpcRefusal(error?.code ?? 0, error?.message ?? `HTTP ${status}, and not an answer to the request`, status);
}

/** HTTP with SSE, the transport of 2024: a stream for answers, and an address for requests. */
export async function connectSse(url: string, signal: AbortSignal, timeoutMs: number): Promise<Rpc> {
  const controller = new AbortController();
  const bound = AbortSignal.any([signal, controller.signal]);
  const opening = setTimeout(() => controller.abort(new DOMException("late", "TimeoutError")), timeoutMs);
  let response: Response;
  try {
    response = await fetch(url, { headers: { Accept: "text/event-stream" }, signal: bound });
  } catch (error) {
    signal.throwIfAborted();
    throw unreachable(url, error);
  }
  const isStream = response.headers.get("Content-Type")?.startsWith("text/event-stream") === true;
  if (!response.ok || !isStream || response.body === null) {
    clearTimeout(opening);
    controller.abort();
    throw new CliError(`What answers there is not an MCP server (HTTP ${response.status})`, {
      where: url,
      hint: "The address of an MCP server often ends with /mcp or /sse.",
      code: "ErrorNotMcp",
    });
  }
  const events = readEvents(response.body);
  let endpoint: string | undefined;
  while (endpoint === undefined) {
    const { value, done } = await events.next();
    if (done) throw new CliError("The MCP server's stream ended at once", { where: url, code: "ErrorNotMcp" });
    if (value?.event === "endpoint") endpoint = new URL(value.data, url).href;
  }
  clearTimeout(opening);
  if (new URL(endpoint).origin !== new URL(url).origin) {
    controller.abort();
    throw new CliError("The MCP server sends requests to another origin", { where: url, code: "ErrorNotMcp" });
  }
  const target = endpoint;
  const waiting = new Map<number, (answer: { result: Json } | Error) => void>();
  const post = async (message: Json) => {
    const sent = await fetch(target, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(message),
      signal: bound,
    });
    await sent.body?.cancel();
    if (!sent.ok) throw new RpcRefusal(0, `HTTP ${sent.status}`, sent.status);
  };
  const listening = (async () => {
    for await (const event of events) {
      if (event === undefined || event.event !== "message" || event.data === "") continue;
      const message = readJson(event.data) as Json;
      const reply = replyTo(message);
      if (reply !== undefined) await post(reply).catch(() => {});
      for (const [id, settle] of waiting) {
        const answer = answerTo(message, id);
        if (answer !== undefined) settle(answer);
      }
    }
  })();
  listening
    .catch(() => {})
    .finally(() => {
      for (const settle of waiting.values()) settle(unreachable(url, undefined));
    });
  let nextId = 1;
  return {
    junk: [],
    speak() {},
    async request(method, params, ms) {
      const id = nextId;
      nextId += 1;
      const answer = new Promise<{ result: Json } | Error>((resolve) => {
        const timer = setTimeout(() => resolve(unreachable(url, new DOMException("late", "TimeoutError"))), ms);
        waiting.set(id, (value) => {
          clearTimeout(timer);
          resolve(value);
        });
      });
      await post({ jsonrpc: "2.0", id, method, params });
      const settled = await answer;
      waiting.delete(id);
      if (settled instanceof Error) throw settled;
      return settled.result;
    },
    notify: (method) => post({ jsonrpc: "2.0", method }),
    async close() {
      controller.abort();
    },
  };
}
