import type { Authenticator } from "../auth/authenticator.ts";
import type { Config } from "../config.ts";
import type { RateLimiter } from "../kernel/rate-limit.ts";
import type { Cursors } from "./cursor.ts";
import type { Metrics } from "./metrics.ts";
import type { KeptAnswers } from "./response-store.ts";

/** What requests are read and answered with, in every room. */
export interface HttpDeps {
  config: Config;
  now: () => number;
  metrics: Metrics;
  authenticator: Authenticator;
  reads: RateLimiter;
  /** Whole answers that can be sent again. */
  kept: KeptAnswers;
  /** Absent while no secret is configured to sign them with. */
  cursors: Cursors | undefined;
}
