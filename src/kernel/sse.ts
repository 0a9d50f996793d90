export interface StreamEvent {
  /** What a client comes back with to go on after this event. */
  id?: string;
  name: string;
  data: unknown;
}

/** One event of `text/event-stream`. JSON has no line breaks, so one data line is enough. */
export function eventText(event: StreamEvent): string {
  const id = event.id === undefined ? "" : `id: ${event.id}\n`;
  return `${id}event: ${event.name}\ndata: ${JSON.stringify(event.data)}\n\n`;
}

/** A comment: keeps the connection alive and says nothing. */
export const heartbeatText = ":\n\n";

/** Tells the client how long to wait before it comes back, and to where. */
export function retryText(milliseconds: number, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}retry: ${milliseconds}\n\n`;
}

/** How far a reader has seen each tenant's changes, as the id of an event: `acme:12,io.github.acme:7`. */
export function positionsText(positions: ReadonlyMap<string, number>): string {
  return [...positions].map(([tenant, generation]) => `${tenant}:${generation}`).join(",");
}

/** Undefined for anything that is not such an id. */
export function parsePositions(text: string): Record<string, number> | undefined {
  if (text.length > 8_192) return undefined;
  const positions: Record<string, number> = Object.create(null);
  for (const part of text.split(",")) {
    const match = /^([a-z0-9][a-z0-9.-]{0,99}):(\d{1,15})$/.exec(part);
    if (match?.[1] === undefined) return undefined;
    positions[match[1]] = Number(match[2]);
  }
  return positions;
}
