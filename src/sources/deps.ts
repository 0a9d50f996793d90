import type { RateLimiter } from "../kernel/rate-limit.ts";
import type { RegistryDeps } from "../registry/deps.ts";

export interface SourcesDeps extends RegistryDeps {
  refreshLimiter: RateLimiter;
}
