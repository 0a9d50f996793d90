import valid from "semver/functions/valid.js";
import validRange from "semver/ranges/valid.js";
import { z } from "zod";
import { withOtherSpellings } from "../http/other-spellings.ts";
import { Digest, TenantKey, TenantName } from "../kernel/names.ts";
import { CapabilityKind } from "../manifest/schema/capability.ts";
import { JsonObject } from "../manifest/schema/parts.ts";
import { DefinitionFormat } from "../registry/definitions/schema.ts";
import { choiceInclude } from "../search/schema.ts";

/** Limits of one negotiation request. */
export const negotiationBounds = { capabilities: 256, details: 256, parametersBytes: 4_096, bodyBytes: 64 * 1_024 };

const SemanticVersion = z
  .string()
  .max(256)
  // What is valid comes back without its build metadata.
  .refine((text) => valid(text) === text.split("+", 1)[0], {
    message: "must be a semantic version such as 1.2.0",
  });

/** A protocol name, or a reverse-DNS name such as `dev.rollcall/context`. Unknown names are stored in the session. */
const CapabilityName = z.string().min(1).max(200).regex(/^\S+$/, "must not contain white space");

const Parameters = JsonObject.refine((value) => JSON.stringify(value).length <= negotiationBounds.parametersBytes, {
  message: `must be at most ${negotiationBounds.parametersBytes} characters of JSON`,
});

export const CapabilityDetail = z
  .looseObject({
    name: CapabilityName,
    version: SemanticVersion,
    description: z.string().max(4_096),
    parameters: Parameters.nullish(),
  })
  .describe("One version of a capability. Several versions of one are several entries with the same name.");
export type CapabilityDetail = z.infer<typeof CapabilityDetail>;

const entries = (value: Record<string, unknown>) => Object.keys(value).length;

/** Request to open a session. */
export const NegotiationRequest = z
  .looseObject({
    client_name: z.string().min(1).max(255),
    client_version: z.string().min(1).max(255),
    supported_capabilities: z
      .array(CapabilityName)
      .max(negotiationBounds.capabilities)
      .superRefine((names, context) => {
        for (const [index, name] of names.entries()) {
          if (names.indexOf(name) === index) continue;
          context.addIssue({ code: "custom", path: [index], message: `names ${JSON.stringify(name)} a second time` });
        }
      }),
    capability_details: z
      .record(z.string().max(255), CapabilityDetail)
      .refine((details) => entries(details) <= negotiationBounds.details, {
        message: `must have at most ${negotiationBounds.details} entries`,
      })
      .describe("Keyed by capability name; any other key will do where one capability has several versions.")
      .nullish(),
    extensions: JsonObject.describe("What custom capabilities ask for, by their name.").nullish(),
  })
  .describe("Opens a session: what the client can do, and what it would like.");
export type NegotiationRequest = z.infer<typeof NegotiationRequest>;

/** `extensions["dev.rollcall/negotiation"]`: conditions on the negotiation itself. */
export const NegotiationConditions = z.strictObject({
  required: z
    .array(CapabilityName)
    .max(64)
    .describe("Capabilities without which the client does not want a session.")
    .optional(),
});

const Reference = {
  // Longer than a declared id may be: the generated id of a resource contains its URI.
  id: z.string().min(1).max(4_096).describe("The capability's id."),
  tenant: TenantName.describe("Needed where several have the id.").optional(),
};

/** Accepted spellings of members that are not described. */
export const contextSpellings = { task: ["q", "query"], budget: ["token_budget"] };

/** `ContextRequest` in the spelling that is described. */
export const ContextFields = z
  .strictObject({
    budget: z.int().min(0).max(1_000_000_000).describe("Tokens that the chosen may cost."),
    task: z.string().max(10_000).describe("What is to be done, in plain words.").optional(),
    kinds: z.array(CapabilityKind).min(1).max(CapabilityKind.options.length).describe("Default: all.").optional(),
    tenants: z.array(TenantKey).min(1).max(16).describe("Default: all you may see.").optional(),
    definitions: DefinitionFormat.describe("Adds definitions for this API.").optional(),
    must_have: z
      .array(
        z.strictObject({
          ...Reference,
          version: z
            .string()
            .max(256)
            .refine((text) => validRange(text) !== null, { message: "must be a version range such as ^1.2.0" })
            .describe("A semantic version range.")
            .optional(),
        }),
      )
      .max(64)
      .describe("Taken before anything else.")
      .optional(),
    pins: z
      .array(z.strictObject({ ...Reference, digest: Digest.describe("As reviewed.") }))
      .max(256)
      .describe("Reviewed: taken if unchanged, else left out and reported.")
      .optional(),
    include: choiceInclude.optional(),
  })
  .describe("Asks for the capabilities that fit a task and a token budget.");

/** `extensions["dev.rollcall/context"]`: requests the capabilities that fit a task and a token budget. */
export const ContextRequest = withOtherSpellings(ContextFields, contextSpellings);
export type ContextRequest = z.infer<typeof ContextRequest>;

export const ResumeRequest = z
  .strictObject({ resume_token: z.string().min(1).max(512) })
  .describe("Takes up an expired session again, once.");
