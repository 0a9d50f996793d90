export interface StreamEvent {
  /** Clients send it as `Last-Event-ID` to resume after this event. */
  id?: string;
  name: string;
  data: unknown;
}

/** One event of `text/event-stream`. JSON.stringify writes no line breaks, so one data line is enough. */
export function formatEvent(event: StreamEvent): string {
  const id = event.id === undefined ? "" : `id: ${event.id}\n`;
  return `${id}event: ${event.name}\ndata: ${JSON.stringify(event.data)}\n\n`;
}

/** An SSE comment: keeps the connection alive without sending an event. */
export const heartbeat = ":\n\n";

/** Sets the client's reconnect delay and, if `id` is given, its last event id. */
export function formatRetry(milliseconds: number, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}retry: ${milliseconds}\n\n`;
}
