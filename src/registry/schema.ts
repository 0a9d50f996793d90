import { z } from "zod";
import { ServerName, TenantName } from "../kernel/names.ts";
import { CapabilityKind } from "../manifest/schema/capability.ts";
import { Description, JsonObject, Title } from "../manifest/schema/parts.ts";

export const variants = {
  summary: z.boolean().optional(),
  full: z.boolean().optional(),
  stats: z.boolean().optional(),
};

export const switches = {
  advertiseResources: z.boolean().describe("The master switch; off where absent.").optional(),
  advertise_resources: z.boolean().describe("Another spelling of advertiseResources.").optional(),
};

export const spellingsAgree = (settings: {
  advertiseResources?: boolean | undefined;
  advertise_resources?: boolean | undefined;
}) =>
  settings.advertiseResources === undefined ||
  settings.advertise_resources === undefined ||
  settings.advertiseResources === settings.advertise_resources;

export const contradiction = { message: "contradicts advertiseResources", path: ["advertise_resources"] };

/** Which variants of a server's index may be read. */
export const Advertise = z
  .looseObject({ ...switches, variants: z.looseObject(variants).optional() })
  .refine(spellingsAgree, contradiction);

export type Advertise = z.infer<typeof Advertise>;

/** What its publisher says of a server. `withdrawn`: no longer offered; it can be read, but nothing is chosen from it. */
export const ServerStatus = z.enum(["active", "deprecated", "withdrawn"]);
export type ServerStatus = z.infer<typeof ServerStatus>;

export const Visibility = z.enum(["tenant", "public"]);
export type Visibility = z.infer<typeof Visibility>;

/** An MCP endpoint that capabilities are read from. */
export const Source = z
  .looseObject({
    id: z.string().max(128).optional(),
    type: z.enum(["streamable-http", "sse", "stdio"]),
    url: z
      .string()
      .max(2_048)
      .refine((text) => ["http:", "https:"].includes(URL.parse(text)?.protocol ?? ""), {
        message: "must be an https URL",
      })
      .optional(),
    credential: z
      .looseObject({
        secret: z.string().min(1).max(255),
        header: z
          .string()
          .max(128)
          .regex(/^[A-Za-z0-9-]+$/, "must be the name of a header")
          .optional(),
      })
      .describe("Names a secret of the deployment; never the secret itself.")
      .optional(),
  })
  .refine(({ type, url }) => type === "stdio" || url !== undefined, {
    path: ["url"],
    message: "is needed: the address that the registry reads",
  });
export type Source = z.infer<typeof Source>;

/** The id of a source, derived from its position if it declares none. */
export function sourceId({ id }: Pick<Source, "id">, index: number): string {
  return id ?? `source-${index + 1}`;
}

/** A server's settings as its publisher declares them, apart from its manifest. */
export const ServerConfig = z
  .looseObject({
    tenant: TenantName,
    name: ServerName,
    title: Title.optional(),
    description: Description.optional(),
    visibility: Visibility.default("tenant").describe("Who may read it: the tenant, or everyone."),
    status: ServerStatus.optional().describe("Whether readers should still rely on it; active where absent."),
    statusMessage: z
      .string()
      .max(1_024)
      .optional()
      .describe("Why it has this status and what to use instead, for its readers."),
    sources: z
      .array(Source)
      .max(32)
      .refine((sources) => new Set(sources.map(sourceId)).size === sources.length, {
        message: "has two sources of one id; without one a source is called source-1, source-2 and so on",
      })
      .optional(),
    advertise: Advertise.describe(
      "Which variants of the server's index are advertised; also read as `resources`.",
    ).optional(),
    policy: z
      .looseObject({
        sameVersion: z
          .enum(["flag", "refuse"])
          .describe("What to do when a manifest changes while its version stays: flag it to readers, or refuse it.")
          .optional(),
      })
      .optional(),
    _meta: JsonObject.optional(),
  })
  .describe("A server's settings. Unknown keys are kept and returned.");
export type ServerConfig = z.infer<typeof ServerConfig>;

/** Switches items of a server's manifest on or off without a new manifest. */
export const ItemSwitch = z
  .strictObject({
    items: z
      .array(
        z.strictObject({
          kind: CapabilityKind,
          name: z.string().min(1).max(2_048).describe("The item's name, or its URI, URI template or generator type."),
          enabled: z.boolean(),
        }),
      )
      .min(1)
      .max(1_000)
      .refine((items) => new Set(items.map(({ kind, name }) => `${kind} ${name}`)).size === items.length, {
        message: "names an item twice",
      }),
  })
  .describe("Items to enable or disable, all or none.");
export type ItemSwitch = z.infer<typeof ItemSwitch>;
