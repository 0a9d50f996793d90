import type { z } from "zod";
import type { Principal } from "../auth/principal.ts";
import type { Failure } from "../kernel/failure.ts";
import type { Result } from "../kernel/result.ts";
import type { Agreed } from "./answer-schema.ts";
import type { ChosenSubset } from "./contract.ts";
import type { SessionsDeps } from "./deps.ts";
import type { Offer } from "./negotiate.ts";

/** The context in which an extension is called. */
interface ExtensionContext {
  services: SessionsDeps;
  principal: Principal;
  /** The negotiated version and parameters of the extension. */
  agreed: Agreed;
}

/** The extension's part of the response, and the subset that the session stores. */
interface ExtensionAnswer {
  answer: Record<string, unknown>;
  subset?: ChosenSubset;
}

/**
 * A capability beyond the protocol's, under a reverse-DNS name, negotiated like any other. If it is agreed on and the
 * request has `extensions[name]`, the response has its answer under the same key. Register it in `sessionExtensions`.
 */
export interface SessionExtension extends Offer {
  /** Schema of `extensions[name]` in a request. */
  wish: z.ZodType;
  /** Called with the parsed `extensions[name]`. */
  answer(wish: unknown, request: ExtensionContext): Promise<Result<ExtensionAnswer, Failure>>;
}

/** Infers the type of `wish` from its schema in the definition; the list of extensions has no type parameter. */
export function defineSessionExtension<Wish>(
  capability: Offer & {
    wish: z.ZodType<Wish>;
    answer(wish: Wish, request: ExtensionContext): Promise<Result<ExtensionAnswer, Failure>>;
  },
): SessionExtension {
  return capability as SessionExtension;
}
