export interface Tool {
  name: string;
  description?: string;
  inputSchema?: Record<string, unknown>;
}

/** A server as somebody wrote it. */
export interface RealServer {
  identifier: string;
  title: string;
  categories: string[];
  tools: Tool[];
}
