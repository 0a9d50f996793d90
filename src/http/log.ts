import type { RequestContext } from "./context.ts";

/** One structured line. The path is logged without its query, and no header ever is: either could hold a secret. */
export function log(c: RequestContext, event: string, fields: Record<string, unknown>): void {
  const { method, path } = c.req;
  const line = JSON.stringify({
    event,
    requestId: c.get("requestId"),
    method,
    path,
    subject: c.get("subject"),
    ...fields,
  });
  if (event === "error") console.error(line);
  else console.log(line);
}
