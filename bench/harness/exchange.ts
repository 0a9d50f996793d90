/** One request of a case, ready to send. */
export interface Exchange {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** What came back. */
export interface Received {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}
