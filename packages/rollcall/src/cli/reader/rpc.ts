import { isObject, type Json } from "../../publisher/manifest.ts";
import { version } from "../version.ts";

export { isObject, type Json };

/** One connection to an MCP server, whatever carries it. */
export interface Rpc {
  /** The `result` of an answer, unchanged. Throws RpcRefusal for an error of the server, CliError for everything else. */
  request(method: string, params: Json, timeoutMs: number): Promise<Json>;
  notify(method: string): Promise<void>;
  /** Which revision the next requests are of. */
  speak(version: string): void;
  /** Lines that were no messages. */
  readonly junk: string[];
  close(): Promise<void>;
}

/** The server answered with a JSON-RPC error. */
export class RpcRefusal extends Error {
  readonly rpcCode: number;
  readonly httpStatus: number | undefined;

  constructor(code: number, message: string, httpStatus?: number) {
    super(message);
    this.rpcCode = code;
    this.httpStatus = httpStatus;
  }
}

export const modernVersion = "2026-07-28";
export const legacyVersion = "2025-11-25";
export const clientInfo = { name: "rollcall", version };

/** In revision 2026-07-28 every request says who asks. */
export function withMeta(params: Json): Json {
  return {
    ...params,
    _meta: {
      "io.modelcontextprotocol/protocolVersion": modernVersion,
      "io.modelcontextprotocol/clientCapabilities": {},
      "io.modelcontextprotocol/clientInfo": clientInfo,
    },
  };
}

/** Result or refusal of an answer; undefined if the message is none to this id. */
export function answerTo(message: unknown, id: number, httpStatus?: number): { result: Json } | RpcRefusal | undefined {
  if (!isObject(message) || message.id !== id || message.method !== undefined) return undefined;
  if (isObject(message.error)) {
    const { code, message: text } = message.error;
    return new RpcRefusal(
      typeof code === "number" ? code : 0,
      typeof text === "string" ? text : "no reason given",
      httpStatus,
    );
  }
  return isObject(message.result)
    ? { result: message.result }
    : new RpcRefusal(0, "an answer without a result", httpStatus);
}

/** What a server may ask of us: a sign of life. Everything else was not offered. */
export function replyTo(message: Json): Json | undefined {
  if (typeof message.method !== "string" || message.id === undefined) return undefined;
  if (message.method === "ping") return { jsonrpc: "2.0", id: message.id, result: {} };
  return { jsonrpc: "2.0", id: message.id, error: { code: -32601, message: "Method not found" } };
}
