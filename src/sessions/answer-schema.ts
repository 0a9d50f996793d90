import { z } from "zod";
import { named } from "../http/named.ts";
import { Digest } from "../kernel/names.ts";
import { Classification, Reason } from "../manifest/classify/reasons.ts";
import { ChainedChange } from "../registry/change-chain.ts";
import { ModelDefinitions } from "../registry/definitions/schema.ts";
import { choiceOptions } from "../registry/record.ts";
import { ShownCard } from "../search/schema.ts";
import { CapabilityDetail } from "./schema.ts";

/** Schemas of what negotiation and sessions answer. */

const parameters = z.record(z.string(), z.unknown());

const ParameterConflict = z
  .object({ parameter: z.string(), client: z.unknown(), server: z.unknown(), message: z.string() })
  .describe("A parameter for which client and server have no common value; the server's is used.");
export type ParameterConflict = z.infer<typeof ParameterConflict>;

const Agreed = named(
  "Agreed",
  z
    .object({
      name: z.string(),
      version: z.string(),
      parameters: parameters.optional(),
      conflicts: z.array(ParameterConflict).optional(),
      ignored_parameters: z
        .array(z.string())
        .optional()
        .describe("Parameters that the client named and the server does not know."),
    })
    .describe("A capability that both sides have, with the negotiated version and parameters."),
);
export type Agreed = z.infer<typeof Agreed>;

const Declined = named(
  "Declined",
  z
    .object({ name: z.string(), reason: z.enum(["unknown", "server", "version", "undeclared"]), message: z.string() })
    .describe("A capability that is not used in the session."),
);
export type Declined = z.infer<typeof Declined>;

export const Negotiated = named(
  "Negotiated",
  z.object({ capabilities: z.array(Agreed), declined: z.array(Declined) }).describe("What was negotiated."),
);
export type Negotiated = z.infer<typeof Negotiated>;

const ChosenCard = ShownCard.pick({
  id: true,
  tenant: true,
  server: true,
  kind: true,
  name: true,
  digest: true,
  tokens: true,
  registry: true,
});
export type ChosenCard = z.infer<typeof ChosenCard>;

const ChosenItems = named(
  "ChosenItems",
  z.object({ items: z.array(ChosenCard) }).describe("The capabilities that the session has chosen."),
);

const Why = z.enum(["must-have", "pinned", "task"]);
export type Why = z.infer<typeof Why>;

const LeftOut = named(
  "LeftOut",
  z
    .object({
      id: z.string(),
      tenant: z.string().optional(),
      tokens: z.int().optional(),
      why: Why,
      reason: z.enum([
        "not-found",
        "ambiguous",
        "version",
        "changed-since-pin",
        "over-budget",
        "name-too-long",
        "too-many-items",
        "too-many-tenants",
        ...choiceOptions,
      ]),
      message: z.string(),
    })
    .describe("A capability that was not chosen."),
);
export type LeftOut = z.infer<typeof LeftOut>;

const PinChange = named(
  "PinChange",
  z
    .object({
      id: z.string(),
      tenant: z.string(),
      from: Digest,
      to: Digest,
      classification: z
        .enum([...Classification.options, "unknown"])
        .describe("`unknown` if the tenant no longer stores the pinned version."),
      breaking: z.boolean().optional(),
      reasons: z.array(Reason).optional(),
    })
    .describe("A pin whose capability has changed."),
);
export type PinChange = z.infer<typeof PinChange>;

const ContextAnswer = named(
  "ContextAnswer",
  z
    .object({
      budget: z.int(),
      used_tokens: z.int(),
      satisfied: z.boolean().describe("True if every must-have was chosen."),
      items: z.array(
        z.object({
          ...ShownCard.shape,
          why: Why,
          rank: z.int().optional().describe("Place in the ranking, if that is why it was chosen."),
        }),
      ),
      left_out: z.array(LeftOut),
      more_left_out: z.int().optional().describe("Number of left-out capabilities that are not listed."),
      changed: z.array(PinChange),
      skipped_tenants: z.array(z.string()).optional().describe("Tenants of the caller beyond the limit of a search."),
      ...ModelDefinitions.partial().shape,
    })
    .describe("The capabilities that fit a task and a token budget."),
);
export type ContextAnswer = z.infer<typeof ContextAnswer>;

const seconds = z.number().describe("Epoch seconds.");

const sessionFields = {
  id: z.string().optional().describe("Absent for a client that did not negotiate."),
  client_name: z.string(),
  client_version: z.string(),
  client_capabilities: z.array(z.string()),
  created_at: seconds,
  last_activity: seconds,
  expires_at: seconds.optional(),
  auth_context: z
    .object({ subject: z.string(), tenants: z.array(z.string()), scopes: z.array(z.string()) })
    .nullable()
    .describe("Of the token at the negotiation, as far as the token of this request still has it; null without one."),
};

export const SessionDocument = named(
  "SessionDocument",
  z
    .object({
      ...sessionFields,
      negotiated: Negotiated,
      extensions: z.object({ "dev.rollcall/context": ChosenItems }).optional(),
    })
    .describe("A session as its client sees it."),
);
export type SessionDocument = z.infer<typeof SessionDocument>;

export const NegotiationResponse = named(
  "NegotiationResponse",
  z
    .object({
      server_name: z.string(),
      server_version: z.string(),
      supported_capabilities: z.array(z.string()),
      available_tools: z.array(z.string()),
      available_resources: z.array(z.string()).describe("URIs."),
      capability_details: z.record(z.string(), CapabilityDetail),
      extensions: z
        .object({ "dev.rollcall/context": z.union([ContextAnswer, ChosenItems]).optional() })
        .describe("Answers to `extensions` of the request; a resumed session shows what it has chosen."),
      negotiated: Negotiated,
      session: z.object({
        ...sessionFields,
        resume_token: z.string().optional().describe("With `session_resume`: takes the session up again, once."),
      }),
    })
    .describe("The server's side, what was negotiated, and the session."),
);
export type NegotiationResponse = z.infer<typeof NegotiationResponse>;

export const SessionEnd = named(
  "SessionEnd",
  z.object({ ended: z.string().describe("Id of the session.") }).describe("The session has ended."),
);

const ItemChange = named(
  "ItemChange",
  ChainedChange.omit({ previous: true, hash: true })
    .extend({
      tenant: z.string(),
      id: z.string().optional().describe("Id of the capability; absent if the change is about the whole server."),
    })
    .describe("A change to a chosen capability, or one to its server that makes it unavailable."),
);

export const SessionChanges = named(
  "SessionChanges",
  z
    .object({
      changes: z.array(ItemChange).describe("Of each tenant, the oldest first."),
      position: z.string().describe("`since` of the next request; the stream takes it as Last-Event-ID."),
      more: z.boolean().describe("There are more changes already."),
      complete: z.boolean().describe("False if a log has been pruned past the position."),
    })
    .describe("Changes to the capabilities that the session has chosen."),
);
