import schemas from "../../schemas/all.json" with { type: "json" };
import { type App, type RequestContext, requestError } from "../http/context.ts";
import { send, sendData } from "../http/respond.ts";
import type { ServiceDeps } from "./deps.ts";

const files = new Map(Object.entries(schemas).map(([name, schema]) => [`${name}.schema.json`, JSON.stringify(schema)]));

/** The JSON Schemas: generated files, the same for every caller. */
export function schemasRoutes(app: App, services: ServiceDeps): void {
  const fixed = (c: RequestContext, text: string, contentType: string) =>
    send(c, services, text, contentType, { headers: { "Cache-Control": "public, max-age=3600" } });

  app.get("/schemas/", (c) => sendData(c, services, { items: [...files.keys()].map((file) => `/schemas/${file}`) }));

  app.get("/schemas/:file", (c) => {
    const text = files.get(c.req.param("file"));
    if (text === undefined) throw requestError("ErrorNotFound", "There is no such schema; /schemas/ lists them");
    return fixed(c, text, "application/schema+json; charset=utf-8");
  });
}
