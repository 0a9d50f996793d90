import type { ToolCategory } from "../../registry/views/schema.ts";

/**
 * How the registry's own tools are used: what `capabilities://tools` shows beyond `tools/list`, which every client pays
 * for. The examples are about the demo catalogue; tests run them and provoke the errors.
 */
interface ToolUsage {
  category: ToolCategory;
  examples: readonly { description: string; input: Record<string, unknown> }[];
  commonErrors: readonly { code: string; message: string }[];
  /** Median and 95th percentile of a whole call to a warm registry on a busy machine with two cores: `npm run bench:tools`. */
  typicalMs: string;
}

/** The registry has no time limit of its own; this is the CPU time that the platform gives a request. */
export const timeoutMs = "30000";

const badArguments = {
  code: "ErrorToolArguments",
  message: "An argument is missing, unknown or invalid; details.issues names each by path and rule.",
};
const noServer = {
  code: "ErrorMCPServerNotFound",
  message: "The tenant has no such server; list_servers has those you may see.",
};
const notYours = {
  code: "ErrorTenantPermissionError",
  message: "Your token does not have this tenant, and what you asked for is not public.",
};
const noToken = {
  code: "ErrorUnauthorized",
  message: "What you asked for is not public: send a token of its tenant.",
};

const demo = { tenant: "demo", name: "compose" };

export const toolUsage: Readonly<Record<string, ToolUsage>> = {
  list_servers: {
    category: "query",
    examples: [
      { description: "The servers you may see", input: {} },
      { description: "Two servers of one owner", input: { tenant: "demo", limit: 2 } },
    ],
    commonErrors: [
      badArguments,
      { code: "ErrorCursorInvalid", message: "The cursor is not one of this list and caller; start without a cursor." },
    ],
    typicalMs: "4-23",
  },
  get_capability: {
    category: "query",
    examples: [
      { description: "One tool with its schema", input: { tenant: "demo", id: "mcp.weather.get_forecast" } },
      { description: "The same as YAML", input: { tenant: "demo", id: "mcp.weather.get_forecast", format: "yaml" } },
    ],
    commonErrors: [
      badArguments,
      {
        code: "ErrorCapabilityNotFound",
        message: "The tenant has no such capability; search_capabilities and get_capability_index have the ids.",
      },
      notYours,
      noToken,
    ],
    typicalMs: "5-36",
  },
  select_generator: {
    category: "query",
    examples: [
      {
        description: "By the syntax of a template",
        input: { ...demo, config: { generation: { patterns: [{ template: "Dear {{ name }}" }] } } },
      },
      {
        description: "By the type that the config names",
        input: { ...demo, config: { generation: { patterns: [{ type: "demonstration" }] } } },
      },
    ],
    commonErrors: [
      badArguments,
      noServer,
      { code: "resource_not_found", message: "The server has no generators." },
      notYours,
      noToken,
    ],
    typicalMs: "12-47",
  },
  preflight_generator: {
    category: "validation",
    examples: [
      {
        description: "What is missing before code can be generated",
        input: {
          ...demo,
          type: "code_generation",
          config: { generation: { patterns: [{ specification: "Reverse a list" }] } },
        },
      },
      {
        description: "With the names of credentials and packages that are there",
        input: {
          ...{
            ...demo,
            type: "code_generation",
            config: { generation: { patterns: [{ specification: "Reverse a list" }] } },
          },
          ...{ credentials: ["ANTHROPIC_API_KEY"], dependencies: ["anthropic"] },
        },
      },
    ],
    commonErrors: [
      badArguments,
      noServer,
      {
        code: "resource_not_found",
        message: "The server has no generator of that type; the message names those it has.",
      },
      notYours,
      noToken,
    ],
    typicalMs: "13-33",
  },
  diff_capabilities: {
    category: "query",
    examples: [
      {
        description: "What changed since a digest that you kept; list_servers has the present one",
        input: {
          tenant: "demo",
          name: "weather",
          from: "sha256-ab7ffc11e238579125d9383ebfcbedc8466ea95b39938dd781e308ea3a9e29eb",
        },
      },
    ],
    commonErrors: [
      badArguments,
      {
        code: "ErrorRevisionNotFound",
        message: "The server has no revision with this digest, or no longer; read what it has now.",
      },
      noServer,
      notYours,
      noToken,
    ],
    typicalMs: "16-54",
  },
  whats_changed: {
    category: "query",
    examples: [
      { description: "The first changes of a tenant of yours", input: { tenant: "demo", limit: 5 } },
      { description: "What came after an earlier answer", input: { tenant: "demo", since: 5 } },
    ],
    commonErrors: [badArguments, notYours, noToken],
    typicalMs: "7-23",
  },
  search_capabilities: {
    category: "query",
    examples: [
      { description: "The best three for a task", input: { task: "will it rain tomorrow", limit: 3 } },
      { description: "Tools of one owner only", input: { task: "weather alerts", kinds: ["tool"], tenants: ["demo"] } },
    ],
    commonErrors: [badArguments],
    typicalMs: "4-26",
  },
  negotiate_context: {
    category: "query",
    examples: [{ description: "What fits 300 tokens", input: { task: "will it rain tomorrow", budget: 300 } }],
    commonErrors: [badArguments],
    typicalMs: "11-32",
  },
  get_capability_index: {
    category: "query",
    examples: [
      { description: "A tenant's capabilities by verb", input: { tenant: "demo", variant: "summary" } },
      { description: "Sizes of the index of one server", input: { tenant: "demo", name: "weather", variant: "stats" } },
    ],
    commonErrors: [badArguments, noServer, notYours, noToken],
    typicalMs: "5-25",
  },
};
