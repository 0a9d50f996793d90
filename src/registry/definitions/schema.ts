import { z } from "zod";
import { named } from "../../http/named.ts";
import { definitionFormats } from "../../manifest/model/definitions.ts";
import { CapabilityKind } from "../../manifest/schema/capability.ts";
import { Flag } from "../record-schema.ts";

/** Which API the definitions are for. */
export const DefinitionFormat = z.enum(definitionFormats);
export type DefinitionFormat = z.infer<typeof DefinitionFormat>;

const SentItem = named(
  "SentItem",
  z
    .object({
      tenant: z.string(),
      server: z.string(),
      kind: CapabilityKind,
      name: z.string().describe("As published."),
      id: z.string().describe("Unique in its tenant."),
      digest: z.string(),
      flags: z.array(Flag),
    })
    .describe("What a name in a definition stands for."),
);

export const LeftOutDefinition = named(
  "LeftOutDefinition",
  z
    .object({
      tenant: z.string(),
      server: z.string(),
      name: z.string(),
      reason: z.enum(["kind", "limit", "flagged", "withdrawn", "schema", "changed"]),
      message: z.string(),
    })
    .describe("A capability whose definition is not sent."),
);

/** Members of every answer with definitions. */
export const modelDefinitionsFields = {
  definitions: z.array(z.record(z.string(), z.unknown())).describe("For the model, as its API takes them: at most 20."),
  tokens: z.int().describe("Cost of all definitions together, as they are here."),
  names: z.record(z.string(), SentItem).describe("What each name in a definition stands for."),
  leftOut: z.array(LeftOutDefinition),
};

export const ModelDefinitions = named(
  "ModelDefinitions",
  z.object(modelDefinitionsFields).describe("Definitions that are ready for a model."),
);
