import { parseBody, readDocument } from "../../http/body.ts";
import { type App, type RequestContext, requestError, unwrap } from "../../http/context.ts";
import { booleanParam, readQuery, serverRef } from "../../http/request.ts";
import { sendData } from "../../http/respond.ts";
import { isObject } from "../../kernel/json.ts";
import { GeneratorType } from "../../kernel/names.ts";
import { readItem } from "../../manifest/intake/intake.ts";
import { Generator } from "../../manifest/schema/capability.ts";
import type { RegistryDeps } from "../deps.ts";
import { sendPublished } from "../publish-answer.ts";
import { readRequestedManifest } from "../read.ts";
import { PreflightRequest } from "../views/schema.ts";
import { authorizeWrite } from "../write.ts";
import { preflightOf, selectFrom } from "./read.ts";
import { registerGenerator } from "./register.ts";

const path = "/api/mcp/capabilities/:tenant/:name/generators";

/** Select a generator for a config, check whether it can run, and register one as a plugin. */
export function generatorsRoutes(app: App, services: RegistryDeps): void {
  const { bounds } = services.config;
  const limits = { bytes: bounds.configBytes, depth: bounds.depth };

  app.post(`${path}/select`, async (c) => {
    const published = await readRequestedManifest(c, services);
    readQuery(c, []);
    const config = await readConfigBody(c, limits);
    return sendData(c, services, unwrap(selectFrom(published, config)));
  });

  app.post(`${path}/:type/preflight`, async (c) => {
    const published = await readRequestedManifest(c, services);
    readQuery(c, []);
    const request = parseBody(PreflightRequest, await readDocument(c, limits));
    return sendData(c, services, unwrap(preflightOf(published, c.req.param("type"), request)));
  });

  app.post(path, async (c) => {
    const ref = serverRef(c);
    const writer = await authorizeWrite(c, services, ref);
    const override = booleanParam("override", readQuery(c, ["override"]).override);
    const generator = parseBody(Generator, unwrap(readItem("generators", await readDocument(c, limits))));
    const replaces = override || generator.override === true;
    const published = unwrap(await registerGenerator(services, ref, writer, generator, replaces));
    const options = { partial: false, dryRun: false, status: 201 };
    return sendPublished(c, services, published, options, { type: generator.type });
  });

  app.all(`${path}/select`, () => {
    throw requestError("ErrorMethodNotAllowed", undefined, { allow: "POST" });
  });
  app.all(`${path}/:type/preflight`, (c) => {
    if (!GeneratorType.safeParse(c.req.param("type")).success) throw requestError("resource_not_found");
    throw requestError("ErrorMethodNotAllowed", undefined, { allow: "POST" });
  });
}

/** Accepts any object as a config; the selection rules decide what it lacks. */
async function readConfigBody(c: RequestContext, limits: { bytes: number; depth: number }): Promise<unknown> {
  const { value, issues } = await readDocument(c, limits);
  const [damage] = issues;
  if (damage !== undefined) throw requestError("ErrorInvalidBody", `${damage.path} ${damage.message}`, { issues });
  if (!isObject(value)) throw requestError("ErrorMCPServerValidation", "A config is an object");
  return value;
}
