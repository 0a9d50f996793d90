import { createGuardedFetch, type GuardedRequest } from "../../../src/outbound/guarded-fetch.ts";

/** What to ask for; plain data, so that it can be handed to another process. */
export interface Question {
  address: string;
  request?: Omit<GuardedRequest, "signal" | "body"> & { body?: string };
  /** Where to ask, after a failure and before anything else ends, whether the connection was let go. */
  freed?: string;
  /** Take the headers of the answer and leave its body alone. */
  ignoreBody?: boolean;
}

export interface Reply {
  /** "ok", or the kind of failure. */
  outcome: string;
  message?: string;
  status?: number;
  url?: string;
  headers?: Record<string, string>;
  /** Of the whole body, of which `text` is the beginning. */
  bytes?: number;
  text?: string;
  freed?: string;
  /** Requests that went out. */
  sent: number;
}

export async function ask({ address, request, freed, ignoreBody }: Question): Promise<Reply> {
  let sent = 0;
  const guarded = createGuardedFetch({
    policy: { ownHosts: [], allowLoopback: true },
    fetch: (outbound) => {
      sent += 1;
      return fetch(outbound);
    },
  });
  const answer = await guarded(address, request);
  const read = answer.ok
    ? ignoreBody
      ? { ok: true as const, value: new Uint8Array() }
      : await answer.value.read()
    : answer;
  const connection = freed === undefined ? {} : { freed: await (await fetch(freed)).text() };
  if (!answer.ok || !read.ok) {
    const { kind, message } = read.ok ? { kind: "none", message: "" } : read.error;
    return { outcome: kind, message, sent, ...connection };
  }
  const { status, url, headers } = answer.value;
  const [bytes, text] = [read.value.byteLength, new TextDecoder().decode(read.value.slice(0, 1_000))];
  return { outcome: "ok", status, url, headers: Object.fromEntries(headers), bytes, text, sent, ...connection };
}

/** The same in a Worker, told by POST what to ask. */
export default {
  async fetch(request: Request): Promise<Response> {
    return Response.json(await ask(await request.json<Question>()));
  },
};
