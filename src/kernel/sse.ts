export interface StreamEvent {
  /** What a client comes back with to go on after this event. */
  id?: string;
  name: string;
  data: unknown;
}

/** One event of `text/event-stream`. JSON has no line breaks, so one data line is enough. */
export function formatEvent(event: StreamEvent): string {
  const id = event.id === undefined ? "" : `id: ${event.id}\n`;
  return `${id}event: ${event.name}\ndata: ${JSON.stringify(event.data)}\n\n`;
}

/** A comment: keeps the connection alive and says nothing. */
export const heartbeat = ":\n\n";

/** Tells the client how long to wait before it comes back, and to where. */
export function formatRetry(milliseconds: number, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}retry: ${milliseconds}\n\n`;
}
