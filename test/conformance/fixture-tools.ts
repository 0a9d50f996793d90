import type { CallToolResult, ServerContext } from "@modelcontextprotocol/server";
import { RpcError } from "../../src/mcp/server/rpc-error.ts";
import { png, wav } from "./media.ts";
import { signed, verified } from "./request-state.ts";

type Result = CallToolResult | { resultType: "input_required"; inputRequests: object; requestState?: string };
type Run = (context: ServerContext, given: Record<string, unknown>) => Result | Promise<Result>;

export interface FixtureTool {
  description: string;
  properties?: Record<string, { type: string; description: string }>;
  run: Run;
}

const text = (words: string): CallToolResult => ({ content: [{ type: "text", text: words }] });
const image = { type: "image" as const, data: png, mimeType: "image/png" };

const form = (message: string, properties: object, required = Object.keys(properties)) => ({
  method: "elicitation/create",
  params: { mode: "form", message, requestedSchema: { type: "object", properties, required } },
});
const sampling = (words: string, maxTokens: number) => ({
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: { type: "text", text: words } }], maxTokens },
});
const roots = { method: "roots/list", params: {} };
const string = { type: "string" };

const needs = (inputRequests: object, requestState?: string): Result => ({
  resultType: "input_required",
  inputRequests,
  ...(requestState === undefined ? {} : { requestState }),
});

/** What the client answered under a key, as far as it is an answer. */
function answered(context: ServerContext, key: string): Record<string, unknown> | undefined {
  const value = context.mcpReq.inputResponses?.[key];
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
}

async function stateOf(context: ServerContext): Promise<string | undefined> {
  const given = context.mcpReq.requestState<string>();
  if (given === undefined) return undefined;
  const state = await verified(given);
  if (state === undefined) throw new RpcError(-32_602, "requestState was changed on its way");
  return state;
}

const pause = () => scheduler.wait(50);

/** Asks once, and says what came back. */
const asking =
  (key: string, request: object, say: (answer: Record<string, unknown>) => string): Run =>
  (context) => {
    const answer = answered(context, key);
    return answer === undefined ? needs({ [key]: request }) : text(say(answer));
  };

/** The same with a state that must come back unchanged. */
const askingWithState = (say: string): Run => {
  const request = form("Please confirm", { ok: { type: "boolean" } });
  return async (context) => {
    const state = await stateOf(context);
    if (state === undefined || answered(context, "confirm") === undefined) {
      return needs({ confirm: request }, await signed("confirming"));
    }
    return text(say);
  };
};

/**
 * What a client of 2025 would be asked while the call runs. The answer comes as another request, and without sessions
 * nothing leads it back here; so the call says so at once.
 */
const pushed = (): Result => ({
  ...text("Asking a client of 2025 takes a session, and there are none"),
  isError: true,
});

export const fixtureTools: Record<string, FixtureTool> = {
  test_simple_text: {
    description: "Answers with a text.",
    run: () => text("This is a simple text response for testing."),
  },
  test_image_content: { description: "Answers with an image.", run: () => ({ content: [image] }) },
  test_audio_content: {
    description: "Answers with a sound.",
    run: () => ({ content: [{ type: "audio", data: wav, mimeType: "audio/wav" }] }),
  },
  test_embedded_resource: {
    description: "Answers with a resource.",
    run: () => {
      const words = "This is an embedded resource content.";
      const resource = { uri: "test://embedded-resource", mimeType: "text/plain", text: words };
      return { content: [{ type: "resource", resource }] };
    },
  },
  test_multiple_content_types: {
    description: "Answers with one of each.",
    run: () => {
      const words = JSON.stringify({ test: "data", value: 123 });
      const resource = { uri: "test://mixed-content-resource", mimeType: "application/json", text: words };
      const first = { type: "text" as const, text: "Multiple content types test:" };
      return { content: [first, image, { type: "resource", resource }] };
    },
  },
  test_tool_with_logging: {
    description: "Logs as it goes.",
    async run(context) {
      for (const words of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
        await context.mcpReq.log("info", words);
        await pause();
      }
      return text("Logged three times.");
    },
  },
  test_logging_tool: {
    description: "Logs once, to those who asked for it.",
    async run(context) {
      await context.mcpReq.log("info", "logged");
      return text("Logged.");
    },
  },
  test_error_handling: {
    description: "Always fails.",
    run: () => ({ ...text("This tool intentionally returns an error for testing"), isError: true }),
  },
  test_tool_with_progress: {
    description: "Tells how far it is.",
    async run({ mcpReq }) {
      const progressToken = mcpReq._meta?.progressToken;
      for (const progress of [0, 50, 100]) {
        const params = { progressToken, progress, total: 100 };
        if (progressToken !== undefined) await mcpReq.notify({ method: "notifications/progress", params });
        await pause();
      }
      return text("Done.");
    },
  },
  test_sampling: {
    description: "Asks the client's model.",
    properties: { prompt: { type: "string", description: "What to ask it." } },
    run: pushed,
  },
  test_elicitation: {
    description: "Asks the user.",
    properties: { message: { type: "string", description: "What to ask." } },
    run: pushed,
  },
  test_elicitation_sep1034_defaults: {
    description: "Asks the user, with a default for each kind of value.",
    run: pushed,
  },
  test_elicitation_sep1330_enums: { description: "Asks the user to choose, in every way there is.", run: pushed },
  test_missing_capability: {
    description: "Needs a client that has a model.",
    run({ mcpReq }) {
      const { "io.modelcontextprotocol/clientCapabilities": declared } = (mcpReq.envelope ?? {}) as Record<
        string,
        object
      >;
      if (declared !== undefined && "sampling" in declared) return text("The client has a model.");
      throw new RpcError(-32_021, "This needs a client with sampling", { requiredCapabilities: { sampling: {} } });
    },
  },
  test_streaming_elicitation: {
    description: "Tells how far it is, then asks the user.",
    async run({ mcpReq }) {
      const { progressToken } = mcpReq._meta ?? {};
      const params = { progressToken, progress: 1, total: 2 };
      if (progressToken !== undefined) await mcpReq.notify({ method: "notifications/progress", params });
      return needs({ user_name: form("What is your name?", { name: string }) });
    },
  },
  test_trigger_tool_change: {
    description: "Would change the list of tools, which here nothing does.",
    run: () => text("The tools are as they were."),
  },
  test_trigger_prompt_change: {
    description: "Would change the list of prompts, which here nothing does.",
    run: () => text("The prompts are as they were."),
  },
  test_input_required_result_elicitation: {
    description: "Asks for a name.",
    run: asking("user_name", form("What is your name?", { name: string }), ({ content }) => {
      return `Hello, ${(content as { name?: string } | undefined)?.name}!`;
    }),
  },
  test_input_required_result_sampling: {
    description: "Asks the client's model for a capital.",
    run: asking("capital_question", sampling("What is the capital of France?", 100), ({ content }) => {
      return `The model said: ${(content as { text?: string } | undefined)?.text}`;
    }),
  },
  test_input_required_result_list_roots: {
    description: "Asks for the client's roots.",
    run: asking("client_roots", roots, (answer) => `Roots: ${JSON.stringify(answer.roots)}`),
  },
  test_input_required_result_request_state: {
    description: "Asks, with a state that comes back.",
    run: askingWithState("state-ok"),
  },
  test_input_required_result_tampered_state: {
    description: "Asks, with a state that must not be changed.",
    run: askingWithState("The state is as it was."),
  },
  test_input_required_result_multiple_inputs: {
    description: "Asks for three things at once.",
    async run(context) {
      const requests = {
        user_name: form("What is your name?", { name: string }),
        greeting: sampling("Generate a greeting", 50),
        client_roots: roots,
      };
      const state = await stateOf(context);
      const lacks = Object.keys(requests).some((key) => answered(context, key) === undefined);
      return state === undefined || lacks ? needs(requests, await signed("three")) : text("All three came.");
    },
  },
  test_input_required_result_multi_round: {
    description: "Asks twice, one after the other.",
    async run(context) {
      const state = await stateOf(context);
      if (state === "second" && answered(context, "step2") !== undefined) return text("Both steps are done.");
      if (state === "first" && answered(context, "step1") !== undefined) {
        const request = form("Step 2: What is your favorite color?", { color: string });
        return needs({ step2: request }, await signed("second"));
      }
      return needs({ step1: form("Step 1: What is your name?", { name: string }) }, await signed("first"));
    },
  },
  test_input_required_result_capabilities: {
    description: "Asks only for what the client said it can do.",
    run(context) {
      const { "io.modelcontextprotocol/clientCapabilities": declared = {} } = (context.mcpReq.envelope ?? {}) as Record<
        string,
        object
      >;
      const requests = {
        ...("sampling" in declared ? { question: sampling("Say something", 50) } : {}),
        ...("elicitation" in declared ? { user_name: form("What is your name?", { name: string }) } : {}),
      };
      const open = Object.entries(requests).filter(([key]) => answered(context, key) === undefined);
      return open.length === 0 ? text("Nothing left to ask.") : needs(Object.fromEntries(open));
    },
  },
};
