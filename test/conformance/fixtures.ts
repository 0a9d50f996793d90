import type {
  CallToolResult,
  GetPromptResult,
  ListPromptsResult,
  ListResourcesResult,
  ListResourceTemplatesResult,
  ListToolsResult,
  ReadResourceResult,
  ServerContext,
} from "@modelcontextprotocol/server";
import type { EndpointOptions } from "../../src/mcp/server/endpoint.ts";
import { ownHandlers } from "../../src/mcp/server/handlers.ts";
import { fixtureTools } from "./fixture-tools.ts";
import { png } from "./media.ts";

const tools = Object.entries(fixtureTools).map(([name, { description, properties = {} }]) => ({
  name,
  description,
  inputSchema: { type: "object" as const, properties, required: Object.keys(properties) },
}));

const resources = [
  { uri: "test://static-text", name: "static_text", description: "A text.", mimeType: "text/plain" },
  { uri: "test://static-binary", name: "static_binary", description: "An image.", mimeType: "image/png" },
  { uri: "test://watched-resource", name: "watched", description: "Could change.", mimeType: "text/plain" },
];

const template = {
  uriTemplate: "test://template/{id}/data",
  name: "template",
  description: "Data by id.",
  mimeType: "application/json",
};

function fixtureResource(uri: string): ReadResourceResult["contents"][number] | undefined {
  if (uri === "test://static-text") {
    return { uri, mimeType: "text/plain", text: "This is the content of the static text resource." };
  }
  if (uri === "test://static-binary") return { uri, mimeType: "image/png", blob: png };
  if (uri === "test://watched-resource") return { uri, mimeType: "text/plain", text: "As it was." };
  const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(uri) ?? [];
  if (id === undefined) return undefined;
  const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
  return { uri, mimeType: "application/json", text };
}

const argument = (name: string) => ({ name, description: `The ${name}.`, required: true });
const prompts = [
  { name: "test_simple_prompt", description: "A text." },
  {
    name: "test_prompt_with_arguments",
    description: "Two arguments.",
    arguments: [argument("arg1"), argument("arg2")],
  },
  { name: "test_prompt_with_embedded_resource", description: "A resource.", arguments: [argument("resourceUri")] },
  { name: "test_prompt_with_image", description: "An image." },
  { name: "test_input_required_result_prompt", description: "Asks before it answers." },
];

type Content = GetPromptResult["messages"][number]["content"];
const said = (...contents: Content[]): GetPromptResult => ({
  messages: contents.map((content) => ({ role: "user", content })),
});
const text = (words: string): Content => ({ type: "text", text: words });

function fixturePrompt(name: string, given: Record<string, string>, context: ServerContext): object | undefined {
  switch (name) {
    case "test_simple_prompt":
      return said(text("This is a simple prompt for testing."));
    case "test_prompt_with_arguments":
      return said(text(`Prompt with arguments: arg1='${given.arg1}', arg2='${given.arg2}'`));
    case "test_prompt_with_embedded_resource": {
      const words = "Embedded resource content for testing.";
      const resource = { uri: given.resourceUri ?? "", mimeType: "text/plain", text: words };
      return said({ type: "resource", resource }, text("Please process the embedded resource above."));
    }
    case "test_prompt_with_image":
      return said({ type: "image", data: png, mimeType: "image/png" }, text("Please analyze the image above."));
    case "test_input_required_result_prompt": {
      const answer = context.mcpReq.inputResponses?.user_context as { content?: { context?: string } } | undefined;
      if (answer !== undefined) return said(text(`In this context: ${answer.content?.context}`));
      const properties = { context: { type: "string" } };
      const requestedSchema = { type: "object", properties, required: ["context"] };
      const params = { mode: "form", message: "What context should the prompt use?", requestedSchema };
      return {
        resultType: "input_required",
        inputRequests: { user_context: { method: "elicitation/create", params } },
      };
    }
    default:
      return undefined;
  }
}

/** Everything of the registry as it is, with the fixtures after it: what is not a fixture goes the product's way. */
export const withFixtures: EndpointOptions = {
  handlersFor(caller) {
    const own = ownHandlers(caller);
    return {
      ...own,
      async "tools/list"(params) {
        const listed = await own["tools/list"](params);
        return { ...listed, tools: [...listed.tools, ...tools] } as ListToolsResult;
      },
      async "tools/call"(params, context) {
        const fixture = Object.hasOwn(fixtureTools, params.name) ? fixtureTools[params.name] : undefined;
        if (fixture === undefined) return own["tools/call"](params, context);
        return (await fixture.run(context, (params.arguments ?? {}) as Record<string, unknown>)) as CallToolResult;
      },
      async "resources/list"(params) {
        const listed = await own["resources/list"](params);
        return { ...listed, resources: [...listed.resources, ...resources] } as ListResourcesResult;
      },
      async "resources/templates/list"(params) {
        const listed = await own["resources/templates/list"](params);
        return { ...listed, resourceTemplates: [...listed.resourceTemplates, template] } as ListResourceTemplatesResult;
      },
      async "resources/read"(params) {
        const contents = fixtureResource(params.uri);
        return contents === undefined ? own["resources/read"](params) : { contents: [contents] };
      },
      async "prompts/list"(params) {
        const listed = await own["prompts/list"](params);
        return { ...listed, prompts: [...listed.prompts, ...prompts] } as ListPromptsResult;
      },
      async "prompts/get"(params, context) {
        const prompt = fixturePrompt(params.name, params.arguments ?? {}, context);
        return prompt === undefined ? own["prompts/get"](params, context) : (prompt as GetPromptResult);
      },
      async "completion/complete"(params) {
        const { ref } = params;
        const fixture = ref.type === "ref/prompt" && prompts.some(({ name }) => name === ref.name);
        return fixture ? { completion: { values: [] } } : own["completion/complete"](params);
      },
    };
  },
  testExtras: {
    capabilities: { logging: {} },
    // Clients of 2025 subscribe by a request that the registry itself does not offer them: it could tell them nothing.
    legacyHandlers: { "resources/subscribe": async () => ({}), "resources/unsubscribe": async () => ({}) },
    legacyCapabilities: { resources: { subscribe: true } },
  },
};
