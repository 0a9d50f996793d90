export interface ServerEvent {
  id?: string;
  event: string;
  data: string;
  /** Milliseconds to wait before the next connection, where the event sets them. */
  retry?: number;
}

/** Events of `text/event-stream`. Yields undefined for a sign of life: a comment, or an event without data. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<ServerEvent | undefined, void, void> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = "";
  let event: ServerEvent = { event: "message", data: "" };
  let hasData = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      // A carriage return at the end may be half of a line end.
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line === "") {
          yield hasData || event.id !== undefined || event.retry !== undefined ? event : undefined;
          event = { event: "message", data: "" };
          hasData = false;
          continue;
        }
        const colon = line.indexOf(":");
        const field = colon === -1 ? line : line.slice(0, colon);
        const text = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
        if (field === "data") {
          event.data = hasData ? `${event.data}\n${text}` : text;
          hasData = true;
        } else if (field === "event") event.event = text;
        else if (field === "id" && !text.includes("\0")) event.id = text;
        else if (field === "retry" && /^\d+$/.test(text)) event.retry = Number(text);
        else if (colon === 0) yield undefined;
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
