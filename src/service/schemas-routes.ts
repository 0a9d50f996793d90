import advertiseSettings from "../../schemas/advertise-settings.schema.json" with { type: "json" };
import contextRequest from "../../schemas/context-request.schema.json" with { type: "json" };
import generator from "../../schemas/generator.schema.json" with { type: "json" };
import generatorsView from "../../schemas/generators-view.schema.json" with { type: "json" };
import hookChange from "../../schemas/hook-change.schema.json" with { type: "json" };
import hookEvent from "../../schemas/hook-event.schema.json" with { type: "json" };
import hookRequest from "../../schemas/hook-request.schema.json" with { type: "json" };
import indexBudgetRequest from "../../schemas/index-budget-request.schema.json" with { type: "json" };
import itemSwitch from "../../schemas/item-switch.schema.json" with { type: "json" };
import keyRotation from "../../schemas/key-rotation.schema.json" with { type: "json" };
import manifest from "../../schemas/manifest.schema.json" with { type: "json" };
import negotiationRequest from "../../schemas/negotiation-request.schema.json" with { type: "json" };
import newSubscription from "../../schemas/new-subscription.schema.json" with { type: "json" };
import openapi from "../../schemas/openapi.json" with { type: "json" };
import operation from "../../schemas/operation.schema.json" with { type: "json" };
import preflightRequest from "../../schemas/preflight-request.schema.json" with { type: "json" };
import prompt from "../../schemas/prompt.schema.json" with { type: "json" };
import resource from "../../schemas/resource.schema.json" with { type: "json" };
import resourceTemplate from "../../schemas/resource-template.schema.json" with { type: "json" };
import resourcesView from "../../schemas/resources-view.schema.json" with { type: "json" };
import resumeRequest from "../../schemas/resume-request.schema.json" with { type: "json" };
import secretRotation from "../../schemas/secret-rotation.schema.json" with { type: "json" };
import serverConfig from "../../schemas/server-config.schema.json" with { type: "json" };
import serverJson from "../../schemas/server-json.schema.json" with { type: "json" };
import serverView from "../../schemas/server-view.schema.json" with { type: "json" };
import statusUpdate from "../../schemas/status-update.schema.json" with { type: "json" };
import subscriptionChange from "../../schemas/subscription-change.schema.json" with { type: "json" };
import tool from "../../schemas/tool.schema.json" with { type: "json" };
import toolsView from "../../schemas/tools-view.schema.json" with { type: "json" };
import { type App, bad, type RequestContext } from "../http/context.ts";
import { send, succeed } from "../http/respond.ts";
import type { ServiceDeps } from "./deps.ts";
import type { published } from "./published-schemas.ts";

const schemas: Record<keyof typeof published, unknown> = {
  "server-config": serverConfig,
  manifest,
  tool,
  prompt,
  resource,
  "resource-template": resourceTemplate,
  generator,
  operation,
  "item-switch": itemSwitch,
  "server-view": serverView,
  "tools-view": toolsView,
  "resources-view": resourcesView,
  "generators-view": generatorsView,
  "preflight-request": preflightRequest,
  "negotiation-request": negotiationRequest,
  "context-request": contextRequest,
  "resume-request": resumeRequest,
  "hook-request": hookRequest,
  "hook-change": hookChange,
  "hook-event": hookEvent,
  "key-rotation": keyRotation,
  "new-subscription": newSubscription,
  "subscription-change": subscriptionChange,
  "secret-rotation": secretRotation,
  "advertise-settings": advertiseSettings,
  "index-budget-request": indexBudgetRequest,
  "server-json": serverJson,
  "status-update": statusUpdate,
};

const files = new Map(Object.entries(schemas).map(([name, schema]) => [`${name}.schema.json`, JSON.stringify(schema)]));

/** What the API says of itself: generated files, the same for everyone. */
export function descriptionRoutes(app: App, services: ServiceDeps): void {
  const fixed = (c: RequestContext, text: string, contentType: string) =>
    send(c, services, text, contentType, { headers: { "Cache-Control": "public, max-age=3600" } });

  const description = JSON.stringify(openapi);
  app.get("/openapi.json", (c) => fixed(c, description, "application/json; charset=utf-8"));

  app.get("/schemas/", (c) => succeed(c, services, { items: [...files.keys()].map((file) => `/schemas/${file}`) }));

  app.get("/schemas/:file", (c) => {
    const text = files.get(c.req.param("file"));
    if (text === undefined) throw bad("ErrorNotFound", "There is no such schema; /schemas/ lists them");
    return fixed(c, text, "application/schema+json; charset=utf-8");
  });
}
