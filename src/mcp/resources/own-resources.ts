import { indexUri } from "../../capability-index/text.ts";
import type { Config, IndexVariant } from "../../config.ts";

/** A resource as MCP lists it. */
export interface OwnResource {
  uri: string;
  name: string;
  title: string;
  description: string;
  mimeType: string;
}

/** Resources whose URI has parameters. */
interface OwnResourceTemplate extends Omit<OwnResource, "uri"> {
  uriTemplate: string;
}

export interface ResourceContents {
  uri: string;
  mimeType: string;
  text: string;
  /** Changes with the text. Absent for the registry's own resources. */
  etag?: string;
  /** The tenant's generation at which the text was read. Absent for the registry's own resources. */
  generation?: number;
}

const mimeType = "application/json";

/** In stable order. */
export const ownResources: readonly OwnResource[] = [
  {
    uri: "capabilities://server",
    name: "server",
    title: "This registry",
    description: "Version, features, limits and runtime of the registry.",
    mimeType,
  },
  {
    uri: "capabilities://tools",
    name: "tools",
    title: "Tools",
    description: "The registry's tools with schemas, examples, common errors and timings, by category.",
    mimeType,
  },
  {
    uri: "capabilities://resources",
    name: "resources",
    title: "Resources",
    description: "Families of resource URIs and their parameters.",
    mimeType,
  },
  {
    uri: "capabilities://generators",
    name: "generators",
    title: "Generators",
    description: "How one of a server's generators is chosen; the registry has none of its own.",
    mimeType,
  },
  {
    uri: "generator://decision_tree",
    name: "decision_tree",
    title: "Generators (deprecated)",
    description: "Deprecated: read capabilities://generators.",
    mimeType,
  },
  {
    uri: "capabilities://operations",
    name: "operations",
    title: "HTTP operations",
    description: "The registry's HTTP API: every operation with method, path and schemas. Large.",
    mimeType,
  },
];

export const ownResourceTemplates: readonly OwnResourceTemplate[] = [
  {
    uriTemplate: "capabilities://{tenant}/{name}/{view}",
    name: "server_view",
    title: "View of a server",
    description: "view: server, tools, resources, generators, or another of those that the server view lists.",
    mimeType,
  },
  {
    uriTemplate: "generator://{tenant}/{name}/{type}",
    name: "server_generator",
    title: "Generator of a server",
    description: "One generator, as capabilities://{tenant}/{name}/generators shows it.",
    mimeType,
  },
  {
    uriTemplate: "rollcall://capability-index/{tenant}/{variant}",
    name: "tenant_index",
    title: "Capability index of a tenant",
    description: "variant: summary, full or stats (JSON), as far as the tenant advertises it.",
    mimeType: "text/yaml",
  },
  {
    uriTemplate: "rollcall://capability-index/{tenant}/{name}/{variant}",
    name: "server_index",
    title: "Capability index of a server",
    description: "variant: summary, full or stats (JSON), as far as the server advertises it.",
    mimeType: "text/yaml",
  },
];

interface OwnFamily {
  name: string;
  patterns: string[];
  mimeType: string;
  description: string;
  parameters: { name: string; type: "string"; description: string; enum?: string[] }[];
  examples: string[];
}

const parameter = (name: string, description: string, values?: string[]) => ({
  name,
  type: "string" as const,
  description,
  enum: values,
});
const tenant = parameter("tenant", "Owner of the server.");
const server = parameter("name", "Name of the server.");

/** Every URI that the registry serves, as families of `capabilities://resources`. */
export function ownFamilies({ advertisedIndex }: Pick<Config, "advertisedIndex">): OwnFamily[] {
  const index = ["", "{tenant}/", "{tenant}/{name}/"].map((owner) => `rollcall://capability-index/${owner}`);
  const far = "As far as the operator, the tenant or the server advertises them.";
  const advertised = (variants: readonly IndexVariant[]) =>
    variants.filter((variant) => advertisedIndex[variant]).map((variant) => indexUri({}, variant));
  return [
    {
      name: "capabilities",
      patterns: ["capabilities://{view}", "capabilities://{tenant}/{name}/{view}"],
      mimeType,
      description:
        "Views of the registry itself and of every server; over HTTP at /api/mcp/capabilities/{view} and /api/mcp/capabilities/{tenant}/{name}/{view}.",
      parameters: [
        parameter("view", "server, tools, resources or generators; the server view lists the others."),
        tenant,
        server,
      ],
      examples: ownResources.map(({ uri }) => uri).filter((uri) => uri.startsWith("capabilities://")),
    },
    {
      name: "generator",
      patterns: ["generator://{type}", "generator://{tenant}/{name}/{type}"],
      mimeType,
      description:
        "One generator of a server. The registry has none of its own: without a server only decision_tree answers, the old name of capabilities://generators.",
      parameters: [parameter("type", "Type of the generator."), tenant, server],
      examples: ["generator://decision_tree"],
    },
    {
      name: "capability-index",
      patterns: index.map((place) => `${place}{variant}`),
      mimeType: "text/yaml",
      description: `Capability indexes, by verb or in full. ${far}`,
      parameters: [tenant, server, parameter("variant", "Which index.", ["summary", "full"])],
      examples: advertised(["summary", "full"]),
    },
    {
      name: "capability-index stats",
      patterns: index.map((place) => `${place}stats`),
      mimeType,
      description: `Sizes of capability indexes. ${far}`,
      parameters: [tenant, server],
      examples: advertised(["stats"]),
    },
  ];
}
