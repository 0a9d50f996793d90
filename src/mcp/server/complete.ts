import { indexVariants } from "../../domain/advertise.ts";
import { serversLike, tenantsLike } from "../../reading/known-names.ts";
import { TenantName } from "../../schemas/index.ts";
import { viewNames } from "../../views/named.ts";
import { ownResourceTemplates } from "../own-resources.ts";
import type { McpCaller } from "./caller.ts";
import { ownPrompts } from "./prompts.ts";
import { invalidParams, RpcError } from "./rpc-error.ts";

/** As many as MCP lets one answer have. */
const mostValues = 100;

export interface CompletionRequest {
  ref: { type: "ref/resource"; uri: string } | { type: "ref/prompt"; name: string };
  argument: { name: string; value: string };
  context?: { arguments?: Record<string, string> | undefined } | undefined;
}

export interface Completion {
  values: string[];
  total: number;
  hasMore: boolean;
}

/** What an argument of a template or a prompt may go on as, to this caller. */
export async function complete(caller: McpCaller, request: CompletionRequest): Promise<Completion> {
  const { ref, argument } = request;
  if (!parametersOf(ref).includes(argument.name)) {
    throw new RpcError(invalidParams, `${nameOf(ref)} has no parameter ${JSON.stringify(argument.name.slice(0, 64))}`);
  }
  const values = await valuesOf(caller, argument, request.context?.arguments ?? {});
  return { values: values.slice(0, mostValues), total: values.length, hasMore: values.length > mostValues };
}

async function valuesOf(
  { services, principal }: McpCaller,
  { name, value }: CompletionRequest["argument"],
  settled: Record<string, string>,
): Promise<string[]> {
  switch (name) {
    case "tenant":
      return tenantsLike(services, principal, value);
    case "name": {
      const tenant = TenantName.safeParse(settled.tenant);
      return tenant.success ? serversLike(services, principal, tenant.data, value) : [];
    }
    case "view":
      return viewNames.filter((view) => view.startsWith(value));
    case "variant":
      return indexVariants.filter((variant) => variant.startsWith(value));
    default:
      return [];
  }
}

function parametersOf(ref: CompletionRequest["ref"]): string[] {
  if (ref.type === "ref/prompt") {
    const prompt = ownPrompts.find(({ name }) => name === ref.name);
    if (prompt !== undefined) return prompt.arguments.map(({ name }) => name);
  } else if (ownResourceTemplates.some(({ uriTemplate }) => uriTemplate === ref.uri)) {
    return Array.from(ref.uri.matchAll(/\{(\w+)\}/g), (match) => match[1] ?? "");
  }
  throw new RpcError(invalidParams, `There is no ${nameOf(ref)}`);
}

function nameOf(ref: CompletionRequest["ref"]): string {
  const [kind, name] = ref.type === "ref/prompt" ? ["prompt", ref.name] : ["resource template", ref.uri];
  return `${kind} ${JSON.stringify(name.slice(0, 256).toWellFormed())}`;
}
