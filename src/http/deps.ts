import type { Authenticator } from "../auth/authenticator.ts";
import type { Config } from "../config.ts";
import type { RateLimiter } from "../kernel/rate-limit.ts";
import type { Cursors } from "./cursor.ts";
import type { Metrics } from "./metrics.ts";
import type { ResponseStore } from "./response-store.ts";

/** Dependencies for reading requests and sending responses, shared by all rooms. */
export interface HttpDeps {
  config: Config;
  now: () => number;
  metrics: Metrics;
  authenticator: Authenticator;
  readLimiter: RateLimiter;
  /** Complete responses that can be sent again. */
  responses: ResponseStore;
  /** undefined if no secret is configured to sign cursors with. */
  cursors: Cursors | undefined;
}
