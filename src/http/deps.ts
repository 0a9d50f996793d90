import type { Authenticator } from "../auth/authenticator.ts";
import type { Config } from "../config.ts";
import type { RateLimiter } from "../kernel/rate-limit.ts";
import type { Cursors } from "./cursor.ts";
import type { Metrics } from "./metrics.ts";
import type { ResponseStore } from "./response-store.ts";

/** What requests are read and answered with, in every room. */
export interface HttpDeps {
  config: Config;
  now: () => number;
  metrics: Metrics;
  authenticator: Authenticator;
  readLimiter: RateLimiter;
  /** Whole answers that can be sent again. */
  responses: ResponseStore;
  /** Absent while no secret is configured to sign them with. */
  cursors: Cursors | undefined;
}
