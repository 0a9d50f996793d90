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
  /** Whether the server says that it has this list. */
  offers(list: ListName): boolean;
  /** One page as it came; an absent one where the server has no such method after all. */
  page(list: ListName, cursor: string | undefined): Promise<Result<DeclaredItem | undefined, SourceFailure>>;
  close(): Promise<void>;
}

export interface ConnectOptions {
  era: Era;
  /** An earlier answer to `server/discover`, taken as if it came now. */
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

/** Which part of the server's capabilities announces a list. */
const announcedBy = {
  tools: "tools",
  prompts: "prompts",
  resources: "resources",
  resourceTemplates: "resources",
} as const satisfies Record<ListName, string>;

const methodNotFound = -32601;

/** Speaks to a source in one era. Detection is a matter of trying one after the other, so nothing falls back here. */
export async function connect(
  request: SourceRequest,
  { era, discover, traffic, requestMs }: ConnectOptions,
): Promise<Result<Connection, SourceFailure>> {
  // Half a megabyte of code that most isolates never need: it is evaluated when the first source is read.
  const sdk = await import("./mcp-sdk.ts");
  const safeLine = createSafeLine(request.headers);
  const { transport, endSession } = createTransport(sdk, request, era, traffic);
  const client = new sdk.Client(
    { name: service, version },
    {
      versionNegotiation: { mode: { pin: "2026-07-28" }, probe: { timeoutMs: requestMs } },
      // A list that asks its reader questions is not read.
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
    // While the SDK waits for the first event of a stream it heeds neither its timeout nor the signal.
    await withTimeout(client.connect(transport, options), requestMs, traffic.signal);
  } catch (error) {
    const asked = era === "2026-07-28" ? "server/discover" : "initialize";
    const failure = failed(error, asked);
    await close();
    return err(failure);
  }

  // An event stream that ends takes all answers to come with it; opened anew, it would be another session.
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
        // No capability announces templates alone, so a server with resources may well lack the method. Any other list
        // that was announced and is not there is a contradiction, and no proof that its items are gone.
        const isUnknown = rpcErrorOf(error, sdk)?.code === methodNotFound;
        if (isUnknown && list === "resourceTemplates") return ok(undefined);
        return err(failed(error, method, method));
      }
    },
    close,
  });
}

/** A known era needs no probe: the older ones begin with `initialize`, and an answer at hand needs not be asked for. */
function priorOf(era: Era, discover: Record<string, unknown> | undefined): Sdk.PriorDiscovery | undefined {
  if (era !== "2026-07-28") return { kind: "legacy" };
  // The SDK checks it, and throws where it is none.
  return discover === undefined ? undefined : { kind: "modern", discover: discover as Sdk.DiscoverResult };
}
