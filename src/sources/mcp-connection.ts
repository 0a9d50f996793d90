import { z } from "zod";
import { err, ok, type Result } from "../kernel/result.ts";
import { withTimeout } from "../kernel/timeout.ts";
import { service, version } from "../kernel/version.ts";
import type { Era } from "../registry/contract.ts";
import type { DeclaredItem, ListName, SourceFailure, SourceRequest } from "./contract.ts";
import { createSafeLine, failureOf, type Redact, rpcErrorOf } from "./mcp-failure.ts";
import type * as Sdk from "./mcp-sdk.ts";
import type { Traffic } from "./mcp-traffic.ts";
import { captureRawResults, createTransport } from "./mcp-transport.ts";

export interface Connection {
  readonly era: Era;
  readonly protocolVersion: string;
  readonly session: boolean;
  readonly serverInfo: DeclaredItem | undefined;
  readonly instructions: string | undefined;
  readonly discover: Record<string, unknown> | undefined;
  readonly listChanged: boolean;
  readonly safeLine: Redact;
  /** True if the server's capabilities announce this list. */
  offers(list: ListName): boolean;
  /** One page, unchanged; undefined if the server lacks the method. */
  page(list: ListName, cursor: string | undefined): Promise<Result<DeclaredItem | undefined, SourceFailure>>;
  close(): Promise<void>;
}

interface ConnectOptions {
  era: Era;
  /** Cached result of `server/discover`, used instead of a request. */
  discover?: Record<string, unknown> | undefined;
  traffic: Traffic;
  requestMs: number;
}

const listMethods = {
  tools: "tools/list",
  prompts: "prompts/list",
  resources: "resources/list",
  resourceTemplates: "resources/templates/list",
} as const satisfies Record<ListName, string>;

/** The server capability that announces each list. */
const announcedBy = {
  tools: "tools",
  prompts: "prompts",
  resources: "resources",
  resourceTemplates: "resources",
} as const satisfies Record<ListName, string>;

const methodNotFound = -32601;

/** Connects to a source in one era. No fallback here: the caller tries one era after the other. */
export async function connect(
  request: SourceRequest,
  { era, discover, traffic, requestMs }: ConnectOptions,
): Promise<Result<Connection, SourceFailure>> {
  // Imported on first use: the SDK is half a megabyte of code that most isolates never need.
  const sdk = await import("./mcp-sdk.ts");
  const safeLine = createSafeLine(request.headers);
  const { transport, endSession } = createTransport(sdk, request, era, traffic);
  const client = new sdk.Client(
    { name: service, version },
    {
      versionNegotiation: { mode: { pin: "2026-07-28" }, probe: { timeoutMs: requestMs } },
      // The registry cannot supply input, so a list that requires input fails.
      inputRequired: { autoFulfill: false },
    },
  );
  const lists = captureRawResults(transport);
  const close = async () => {
    await endSession().catch(() => {});
    await transport.close().catch(() => {});
    await client.close().catch(() => {});
  };
  const failed = (thrown: unknown, asked: string, method?: string) =>
    failureOf(thrown, { asked, exchange: traffic.latest(method), stopped: traffic.stopped, sdk, safeLine });

  try {
    const prior = priorOf(era, discover);
    const options = { timeout: requestMs, signal: traffic.signal, prior };
    // While the SDK waits for the first event of a stream, it ignores its own timeout and the signal.
    await withTimeout(client.connect(transport, options), requestMs, traffic.signal);
  } catch (error) {
    const asked = era === "2026-07-28" ? "server/discover" : "initialize";
    const failure = failed(error, asked);
    await close();
    return err(failure);
  }

  // If the event stream ends, outstanding responses are lost, and a new stream would be a new session: close instead.
  if (era === "sse") client.onerror = (error) => void (error instanceof sdk.SseError && transport.close());
  lists.start();

  const capabilities = client.getServerCapabilities() ?? {};
  return ok({
    era,
    protocolVersion: client.getNegotiatedProtocolVersion() ?? "",
    session: era === "sse" || transport.sessionId !== undefined,
    serverInfo: client.getServerVersion() as DeclaredItem | undefined,
    instructions: client.getInstructions(),
    discover: client.getDiscoverResult() as Record<string, unknown> | undefined,
    listChanged: (["tools", "prompts", "resources"] as const).some((name) => capabilities[name]?.listChanged === true),
    safeLine,
    offers: (list) => capabilities[announcedBy[list]] !== undefined,
    page: async (list, cursor) => {
      const method = listMethods[list];
      const params = cursor === undefined ? {} : { params: { cursor } };
      try {
        const options = { timeout: requestMs, signal: traffic.signal };
        const answer = await client.request({ method, ...params }, z.looseObject({}), options);
        return ok(lists.declared(answer));
      } catch (error) {
        // No capability announces resource templates alone, so a server with resources may lack the method. Any other
        // announced list without its method is an error, not proof that its items are removed.
        const isUnknown = rpcErrorOf(error, sdk)?.code === methodNotFound;
        if (isUnknown && list === "resourceTemplates") return ok(undefined);
        return err(failed(error, method, method));
      }
    },
    close,
  });
}

/** Skips the SDK's probe: older eras start with `initialize`, and a cached discover result replaces the request. */
function priorOf(era: Era, discover: Record<string, unknown> | undefined): Sdk.PriorDiscovery | undefined {
  if (era !== "2026-07-28") return { kind: "legacy" };
  // The SDK validates the discover result and throws if it is invalid.
  return discover === undefined ? undefined : { kind: "modern", discover: discover as Sdk.DiscoverResult };
}
