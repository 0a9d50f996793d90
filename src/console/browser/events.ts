/** Reads an event stream of our own origin for as long as the page is open. */

export interface StreamEvent {
  name: string;
  id: string;
  data: string;
}

export interface Following {
  url: string;
  headers?: Record<string, string>;
  /** Id of the last event that is known already. */
  last?: string;
  /** Told when the stream is open. */
  onOpen(): void;
  onEvent(event: StreamEvent): void;
  /** The connection is gone and will be tried again. */
  onLost(): void;
  /** The registry refuses the stream. Returns after how many milliseconds to ask again; undefined gives up. */
  onRefused(status: number): number | undefined;
  /** Replaced in tests. */
  fetch?: typeof fetch;
  wait?: (ms: number) => Promise<void>;
}

/** Streams show a sign of life every five seconds; a connection without any is gone, whatever the browser thinks. */
const silenceMs = 15_000;
const firstWaitMs = 1_000;
const longestWaitMs = 30_000;

export async function followEvents(following: Following): Promise<void> {
  const { url, headers, onOpen, onLost, onRefused, onEvent } = following;
  const ask = following.fetch ?? fetch.bind(globalThis);
  const pause = following.wait ?? ((ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)));
  let last = following.last ?? "";
  let waitMs = firstWaitMs;
  for (;;) {
    const cut = new AbortController();
    try {
      const response = await ask(url, {
        headers: { ...headers, Accept: "text/event-stream", "Last-Event-ID": last },
        // A sign-in that has ended is not followed to the sign-in page.
        redirect: "manual",
        signal: cut.signal,
      });
      if (!response.ok || response.body === null) {
        const again = onRefused(response.status);
        if (again === undefined) return;
        await pause(again);
        continue;
      }
      onOpen();
      waitMs = firstWaitMs;
      await read(response.body, cut, (event) => {
        last = event.id || last;
        if (event.data !== "") onEvent(event);
      });
      // The registry ends a stream after ten minutes: nothing was lost.
    } catch {
      onLost();
    }
    await pause(waitMs);
    waitMs = Math.min(2 * waitMs, longestWaitMs);
  }
}

async function read(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  cut: AbortController,
  take: (event: StreamEvent) => void,
): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const silence = setTimeout(() => cut.abort(), silenceMs);
    const { done, value } = await reader.read().finally(() => clearTimeout(silence));
    if (done) return;
    text += value;
    const events = text.split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) take(parsed(event));
  }
}

function parsed(event: string): StreamEvent {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(event)?.[1] ?? "";
  return { name: field("event"), id: field("id"), data: field("data") };
}
