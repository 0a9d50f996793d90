import { anyone, manager } from "../../http/access.ts";
import { RequestFailed, unwrap } from "../../http/context.ts";
import { toDotPath } from "../../http/errors.ts";
import { operation } from "../../http/operation.ts";
import { publicOrigin } from "../../http/respond.ts";
import { refreshNow } from "../../registry/read.ts";
import { writerFrom } from "../../registry/write.ts";
import { ServerResponse, ValidationResult } from "../answer-schema.ts";
import type { OfficialDeps } from "../deps.ts";
import { alsoV0, ignoringUnknown, tenantInBody } from "../parameters.ts";
import { invalidServerJson, publishServerJson as publishVersion, serverJsonIssues } from "../publish.ts";
import { serverResponse, withEtag } from "../response.ts";
import { ServerJson } from "../schema.ts";
import { parseOfficialName } from "../server-json.ts";

const ferries = {
  name: "demo/ferries",
  description: "Departures of ferries.",
  version: "1.0.0",
  packages: [{ registryType: "npm", identifier: "@demo/ferries", version: "1.0.0", transport: { type: "stdio" } }],
};

const publishServerJson = operation({
  id: "publishServerJson",
  method: "post",
  path: "/v0.1/publish",
  also: alsoV0("/v0.1/publish"),
  tag: "Registry API",
  summary: "Publish a version of a server",
  description: "The part of the name before the slash is the tenant. A published version never changes.",
  access: manager(tenantInBody),
  errors: "problem",
  parameters: ignoringUnknown,
  body: { schema: ServerJson, read: "document", limit: "serverJsonBytes", invalid: "ErrorServerJsonInvalid" },
  answers: { 200: { description: "Published.", json: ServerResponse, etag: true, generation: true } },
  fails: [
    "ErrorVersionExists",
    "ErrorRemoteTaken",
    "ErrorTooManyVersions",
    "ErrorServerPrivate",
    "ErrorMCPServerValidation",
  ],
  examples: { ferries: { body: ferries } },

  async handle(services: OfficialDeps, { principal, tenant, spelling, body, c, answer }) {
    const issues = [...body.issues, ...serverJsonIssues(body.value)];
    if (issues.length > 0) throw new RequestFailed(invalidServerJson(issues));
    const document = body.value as ServerJson;
    const writer = writerFrom(principal, { tenant, spelling });
    const { version, generation } = unwrap(await publishVersion(services, writer, document));
    // The tenant's object reads the remotes at once. Waits for it in the background, to update this Worker's caches.
    if (document.remotes !== undefined && document.remotes.length > 0)
      c.executionCtx.waitUntil(refreshNow(services, parseOfficialName(document.name), { afterRunning: false }));
    const { text, meta } = await withEtag(serverResponse(version, publicOrigin(c, services.config)));
    return answer.raw(200, text, { ...meta, generation });
  },
});

const validateServerJson = operation({
  id: "validateServerJson",
  method: "post",
  path: "/v0.1/validate",
  also: alsoV0("/v0.1/validate"),
  tag: "Registry API",
  summary: "Check whether a server.json could be published",
  access: anyone,
  errors: "problem",
  parameters: ignoringUnknown,
  // A document that is not valid is no failure here.
  body: { schema: ServerJson, read: "document", limit: "serverJsonBytes", invalid: "ErrorBadRequest" },
  answers: { 200: { description: "Valid, or what is wrong.", json: ValidationResult, etag: true } },
  examples: { valid: { body: ferries } },

  async handle(_: OfficialDeps, { body, answer }) {
    const damage = body.issues.map((issue) => ({ ...issue, kind: "json" as const }));
    const issues = [...damage, ...serverJsonIssues(body.value)].map(({ kind, path, rule, message }) => ({
      type: kind,
      path: toDotPath(path),
      message,
      severity: "error" as const,
      reference: rule,
    }));
    const { text, meta } = await withEtag<ValidationResult>({ valid: issues.length === 0, issues });
    return answer.raw(200, text, meta);
  },
});

export const publishOperations = [publishServerJson, validateServerJson];
