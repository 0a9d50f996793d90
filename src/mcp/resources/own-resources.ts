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
    title: "Operations",
    description: "What the registry can be asked to do, with schemas, by category.",
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
    description: "The registry's own generators and how one is chosen.",
    mimeType,
  },
  {
    uri: "generator://decision_tree",
    name: "decision_tree",
    title: "Generators (deprecated)",
    description: "Deprecated: read capabilities://generators.",
    mimeType,
  },
];

export const ownResourceTemplates: readonly OwnResourceTemplate[] = [
  {
    uriTemplate: "capabilities://{tenant}/{name}/{view}",
    name: "server_view",
    title: "View of a server",
    description: "view: server, tools, resources, generators, or one that the server's manifest brings.",
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
