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
import {
  invalidServerJson,
  notChecked,
  publishServerJson as publishVersion,
  readServerJson,
  serverJsonIssues,
} from "../publish.ts";
import { serverResponse, withEtag } from "../response.ts";
import { ServerJson, serverJsonSchemaUri } from "../schema.ts";
import { parseOfficialName } from "../server-json.ts";

const ferries = {
  $schema: serverJsonSchemaUri,
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
  description:
    "The part of the name before the slash is the tenant. A published version never changes. The rules are those of the official registry 1.8.7, but for those that need the network.",
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
    const document = readServerJson(body.value);
    const errors = serverJsonIssues(document, "publish").filter(({ severity }) => severity === "error");
    const issues = [...body.issues, ...errors];
    if (issues.length > 0) throw new RequestFailed(invalidServerJson(issues));
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
  description:
    "By the rules of the official registry 1.8.7. `notChecked` lists what it would ask package registries at publish.",
  access: anyone,
  errors: "problem",
  parameters: ignoringUnknown,
  // A document that is not valid is no failure here.
  body: { schema: ServerJson, read: "document", limit: "serverJsonBytes", invalid: "ErrorBadRequest" },
  answers: { 200: { description: "Valid, or what is wrong.", json: ValidationResult, etag: true } },
  examples: { valid: { body: ferries } },

  async handle(_: OfficialDeps, { body, answer }) {
    const document = readServerJson(body.value);
    const damage = body.issues.map((issue) => ({ ...issue, kind: "json" as const, severity: "error" as const }));
    const all = [...damage, ...serverJsonIssues(document, "validate")];
    const issues = all.map(({ kind, path, rule, message, severity }) => ({
      type: kind,
      path: toDotPath(path),
      message,
      severity,
      reference: rule,
    }));
    const valid = all.every(({ severity }) => severity !== "error");
    const { text, meta } = await withEtag<ValidationResult>({
      valid,
      issues,
      notChecked: valid ? notChecked(document) : [],
    });
    return answer.raw(200, text, meta);
  },
});

export const publishOperations = [publishServerJson, validateServerJson];
