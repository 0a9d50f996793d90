import type { z } from "zod";
import type { Principal } from "../auth/principal.ts";
import type { Failure } from "../kernel/failure.ts";
import type { Result } from "../kernel/result.ts";
import type { ChosenSubset } from "./contract.ts";
import type { SessionsDeps } from "./deps.ts";
import type { Agreed, Offer } from "./negotiate.ts";

/** What a custom capability may work with. */
export interface ExtensionContext {
  services: SessionsDeps;
  principal: Principal;
  /** The version and parameters that were settled for it. */
  agreed: Agreed;
}

/** What goes into the answer under its name, and what the session keeps of it. */
export interface ExtensionAnswer {
  answer: Record<string, unknown>;
  subset?: ChosenSubset;
}

/**
 * A capability beyond the protocol's, under a reverse-DNS name. It is offered like any other; when it is agreed on and
 * `extensions[name]` asks for something, it answers there. Add one to `customCapabilities` and it is in.
 */
export interface SessionExtension extends Offer {
  /** What `extensions[name]` of a request must be. */
  wish: z.ZodType;
  /** Called with a wish that fits the schema. */
  answer(wish: unknown, request: ExtensionContext): Promise<Result<ExtensionAnswer, Failure>>;
}

/** Ties the wish's type to its schema where a capability is defined, and forgets it where capabilities are listed. */
export function defineSessionExtension<Wish>(
  capability: Offer & {
    wish: z.ZodType<Wish>;
    answer(wish: Wish, request: ExtensionContext): Promise<Result<ExtensionAnswer, Failure>>;
  },
): SessionExtension {
  return capability as SessionExtension;
}
