import { z } from "zod";
import { isObject } from "../kernel/json.ts";
import { byteLength } from "../kernel/text.ts";

/**
 * Schema of the official registry's server.json. Unknown keys are kept, so that a document is returned as published.
 */

export const serverJsonSchemaUri = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/** The only key of `_meta` that publishers may set; all others belong to registries. */
export const publisherProvided = "io.modelcontextprotocol.registry/publisher-provided";

const publisherBytes = 4_096;
const versionForm =
  'must be one version: not "latest", and no range such as ^1.2.3, ~1.2.3, >=1.2.3, 1.x or 1.2.3 || 2.0.0';

/** True if the text is a range or `latest`: neither can be published or compared. */
export function isVersionRange(version: string): boolean {
  return (
    version.toLowerCase() === "latest" ||
    /^[\^~=]|[\s<>()[\]*|,]/.test(version) ||
    /^[xX](?:\.[\dxX]+)*$|^(?:v?\d+\.)+[xX](?:\.[\dxX]+)*(?:[-+].*)?$/.test(version)
  );
}

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

function webUrl(schemes: readonly string[], words: string) {
  return z
    .string()
    .max(2_048)
    .refine((value) => !/\s/.test(value) && schemes.includes(URL.parse(value)?.protocol ?? ""), { message: words });
}

const Url = webUrl(["http:", "https:"], "must be an http or https URL");

const SingleVersion = z
  .string()
  .min(1)
  .max(255)
  // URL parsers remove these path segments.
  .refine((version) => version !== "." && version !== "..", { message: "must be a version" })
  .refine((version) => !isVersionRange(version), {
    error: ({ input }) => `${JSON.stringify(String(input).slice(0, 64))} ${versionForm}`,
  });

export const OfficialName = z
  .string()
  .min(3)
  .max(200)
  .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/, "must be a namespace and a name, such as io.github.acme/weather");

export const Input = z.looseObject({
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
export const KeyValueInput = z.looseObject({ ...Input.shape, name: z.string(), variables: Variables.optional() });

export const Argument = z.discriminatedUnion("type", [
  z
    .looseObject({
      ...Input.shape,
      type: z.literal("positional"),
      valueHint: z.string().optional(),
      isRepeated: z.boolean().optional(),
      variables: Variables.optional(),
    })
    .refine(({ value, valueHint }) => value !== undefined || valueHint !== undefined, {
      message: "a positional argument needs value or valueHint",
    }),
  z.looseObject({
    ...Input.shape,
    type: z.literal("named"),
    name: z.string(),
    isRepeated: z.boolean().optional(),
    variables: Variables.optional(),
  }),
]);

/** A URL, or a template whose {variables} the client fills in. */
const TransportUrl = z
  .string()
  .max(2_048)
  .regex(
    /^(https?:\/\/[^\s]+|\{[a-zA-Z_][a-zA-Z0-9_]*\}[^\s]*)$/,
    "must be an http or https URL, or start with a {variable}",
  )
  .refine((url) => url.includes("{") || URL.canParse(url), { message: "must be a URL" });

const transport = { url: TransportUrl, headers: z.array(KeyValueInput).optional() };
export const LocalTransport = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("stdio") }),
  z.looseObject({ type: z.literal("streamable-http"), ...transport }),
  z.looseObject({ type: z.literal("sse"), ...transport }),
]);

export const Remote = z.looseObject({
  type: z.enum(["streamable-http", "sse"]),
  ...transport,
  variables: Variables.optional(),
});
export type Remote = z.infer<typeof Remote>;

export const Package = z.looseObject({
  registryType: z.string().min(1).max(255),
  identifier: z.string().min(1).max(2_048),
  transport: LocalTransport,
  version: SingleVersion.optional(),
  registryBaseUrl: Url.optional(),
  fileSha256: z
    .string()
    .regex(/^[a-f0-9]{64}$/, "must be 64 lower-case hex digits")
    .optional(),
  runtimeHint: z.string().optional(),
  runtimeArguments: z.array(Argument).optional(),
  packageArguments: z.array(Argument).optional(),
  environmentVariables: z.array(KeyValueInput).optional(),
});

export const Repository = z.looseObject({
  url: Url,
  source: z.string().min(1).max(255),
  id: z.string().optional(),
  subfolder: z
    .string()
    .refine((path) => path.split("/").every((part) => /^[\w.-]+$/.test(part) && part !== "." && part !== ".."), {
      message: "must be a plain relative path",
    })
    .optional(),
});

export const OfficialIcon = z.looseObject({
  src: webUrl(["https:"], "must be an https URL").max(255),
  mimeType: z.enum(["image/png", "image/jpeg", "image/jpg", "image/svg+xml", "image/webp"]).optional(),
  sizes: z.array(z.string().regex(/^(\d+x\d+|any)$/, 'must be WxH or "any"')).optional(),
  theme: z.enum(["light", "dark"]).optional(),
});

const Meta = z
  .record(z.string(), z.unknown())
  .refine((meta) => meta[publisherProvided] === undefined || isObject(meta[publisherProvided]), {
    message: "must be an object",
    path: [publisherProvided],
  })
  .refine((meta) => bytesOf(meta[publisherProvided]) <= publisherBytes, {
    message: `must be at most ${publisherBytes} bytes of JSON`,
    path: [publisherProvided],
  })
  .describe(`Only ${publisherProvided} is kept, at most ${publisherBytes} bytes of it.`);

export const ServerJson = z
  .looseObject({
    $schema: z.string().max(2_048).optional(),
    name: OfficialName,
    description: text(1, 100),
    version: SingleVersion,
    title: text(1, 100).optional(),
    websiteUrl: Url.optional(),
    repository: Repository.optional(),
    icons: z.array(OfficialIcon).max(100).optional(),
    packages: z.array(Package).max(100).optional(),
    remotes: z.array(Remote).max(32).optional(),
    _meta: Meta.optional(),
  })
  .describe("A server as the official MCP registry describes it. Unknown keys are kept and returned.");
export type ServerJson = z.infer<typeof ServerJson>;

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
