import { z } from "zod";
import { isObject } from "../kernel/json.ts";
import { byteLength } from "../kernel/text.ts";
import { parseUri } from "./uri.ts";

/**
 * The shape of the official registry's server.json, as its release 1.8.7 takes it: known keys only, because that registry
 * refuses all others. `rules.ts` has what a shape cannot say.
 */

export const serverJsonSchemaUri = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/** The only key of `_meta` that publishers may set; all others belong to registries. */
export const publisherProvided = "io.modelcontextprotocol.registry/publisher-provided";

const publisherBytes = 4_096;

/** Length in Unicode code points, not UTF-16 units. */
function characters(text: string): number {
  return Array.from(text).length;
}

function text(min: number, max: number) {
  return z
    .string()
    .refine((value) => characters(value) >= min && characters(value) <= max, {
      message: `must be ${min} to ${max} characters long`,
    })
    .meta({ minLength: min, maxLength: max });
}

const Uri = z
  .string()
  .refine((value) => parseUri(value) !== undefined, { message: "must be an absolute URL (RFC 3986), with its scheme" })
  .meta({ format: "uri" });

const SingleVersion = text(1, 255).describe("One version: no range, and not `latest`.");

export const OfficialName = z
  .string()
  .min(3)
  .max(200)
  .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/, "must be a namespace and a name, such as io.github.acme/weather");

export const Input = z.strictObject({
  description: z.string().optional(),
  isRequired: z.boolean().optional(),
  isSecret: z.boolean().optional(),
  format: z.enum(["string", "number", "boolean", "filepath"]).optional(),
  value: z.string().optional(),
  default: z.string().optional(),
  placeholder: z.string().optional(),
  choices: z.array(z.string()).optional(),
});
const Variables = z.record(z.string(), Input);
export const KeyValueInput = z.strictObject({ ...Input.shape, name: z.string(), variables: Variables.optional() });

export const Argument = z.strictObject({
  ...Input.shape,
  type: z.enum(["positional", "named"]),
  name: z.string().optional().describe("Required if `named`."),
  valueHint: z.string().optional().describe("This or `value` is required if `positional`."),
  isRepeated: z.boolean().optional(),
  variables: Variables.optional(),
});
export type Argument = z.infer<typeof Argument>;

/** A URL, or a template whose {variables} the client fills in. */
const transport = { headers: z.array(KeyValueInput).optional(), variables: Variables.optional() };
export const LocalTransport = z.strictObject({
  type: z.enum(["stdio", "streamable-http", "sse"]),
  url: z.string().optional().describe("Required but for `stdio`. {Variables} are names of the package's inputs."),
  ...transport,
});

export const Remote = z.strictObject({
  type: z.enum(["streamable-http", "sse"]),
  url: z.string().describe("Over https. {Variables} are defined in `variables`."),
  ...transport,
});
export type Remote = z.infer<typeof Remote>;

export const Package = z.strictObject({
  registryType: z.string().min(1),
  identifier: z.string().min(1),
  transport: LocalTransport,
  version: SingleVersion.optional(),
  registryBaseUrl: Uri.optional(),
  fileSha256: z
    .string()
    .regex(/^[a-f0-9]{64}$/, "must be 64 lower-case hex digits")
    .optional(),
  runtimeHint: z.string().optional(),
  runtimeArguments: z.array(Argument).optional(),
  packageArguments: z.array(Argument).optional(),
  environmentVariables: z.array(KeyValueInput).optional(),
});
export type Package = z.infer<typeof Package>;

export const Repository = z.strictObject({
  url: Uri,
  source: z.string().min(1).describe("`github` or `gitlab`."),
  id: z.string().optional(),
  subfolder: z.string().optional().describe("A plain relative path."),
});
export type Repository = z.infer<typeof Repository>;

export const OfficialIcon = z.strictObject({
  src: Uri.max(255).describe("Over https."),
  mimeType: z.enum(["image/png", "image/jpeg", "image/jpg", "image/svg+xml", "image/webp"]).optional(),
  sizes: z.array(z.string()).optional().describe("WxH, or any."),
  theme: z.enum(["light", "dark"]).optional(),
});

const Meta = z
  .strictObject({ [publisherProvided]: z.record(z.string(), z.unknown()).optional() })
  .refine((meta) => bytesOf(meta[publisherProvided]) <= publisherBytes, {
    message: `must be at most ${publisherBytes} bytes of JSON`,
    path: [publisherProvided],
  });

export const ServerJson = z
  .strictObject({
    $schema: Uri.describe("URL of the schema that the document follows."),
    name: OfficialName,
    description: text(1, 100),
    version: SingleVersion,
    title: text(1, 100).optional(),
    websiteUrl: Uri.optional().describe("Over https."),
    repository: Repository.optional(),
    icons: z.array(OfficialIcon).optional(),
    packages: z.array(Package).optional(),
    remotes: z.array(Remote).optional(),
    _meta: Meta.optional(),
  })
  .describe("A server as the official MCP registry describes it.");
export type ServerJson = z.infer<typeof ServerJson>;

/** The document without members that are null: to the official registry they are absent. */
export function withoutNulls(value: unknown, key?: string): unknown {
  if (key === publisherProvided) return value;
  if (Array.isArray(value)) return value.map((item) => withoutNulls(item));
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null || key === "variables");
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member, name)]));
}

export const VersionStatus = z.enum(["active", "deprecated", "deleted"]);
export type VersionStatus = z.infer<typeof VersionStatus>;

export const StatusUpdate = z
  .strictObject({
    status: VersionStatus,
    statusMessage: text(1, 500).describe("Why; not with active.").optional(),
  })
  .describe("The lifecycle status that a version, or all of a server's, is to have.");
export type StatusUpdate = z.infer<typeof StatusUpdate>;

function bytesOf(value: unknown): number {
  return value === undefined ? 0 : byteLength(JSON.stringify(value));
}
