import { z } from "zod";

/**
 * Parameter schemas by method, checked before the handler runs. The SDK checks too, but reports invalid parameters as a
 * server error with raw validation output.
 */
const page = z.looseObject({ cursor: z.string().optional() });
const shapes: Record<string, z.ZodType> = {
  "tools/list": page,
  "resources/list": page,
  "resources/templates/list": page,
  "prompts/list": page,
  "resources/read": z.looseObject({ uri: z.string() }),
  "prompts/get": z.looseObject({ name: z.string(), arguments: z.record(z.string(), z.string()).optional() }),
  "completion/complete": z.looseObject({
    ref: z.discriminatedUnion("type", [
      z.looseObject({ type: z.literal("ref/prompt"), name: z.string() }),
      z.looseObject({ type: z.literal("ref/resource"), uri: z.string() }),
    ]),
    argument: z.looseObject({ name: z.string(), value: z.string() }),
  }),
};

const Message = z.looseObject({ id: z.union([z.string(), z.number()]), method: z.string(), params: z.unknown() });

/** The error response if the parameters are invalid. Malformed messages and other methods are left to the SDK. */
export function invalidParamsError(body: unknown): object | undefined {
  const message = Message.safeParse(body);
  if (!message.success) return undefined;
  const { id, method, params } = message.data;
  // A method may be called like something that every object inherits.
  const shape = Object.hasOwn(shapes, method) ? shapes[method] : undefined;
  const issue = shape?.safeParse(params ?? {}).error?.issues[0];
  if (issue === undefined) return undefined;
  const where = issue.path.map(String).join("/");
  return { jsonrpc: "2.0", id, error: { code: -32_602, message: `${method}: params/${where} ${issue.message}` } };
}
