import type { Authenticator } from "../auth/authenticator.ts";
import type { Config } from "../config.ts";
import type { Admission } from "../kernel/pace/admission.ts";
import type { Uploads } from "../kernel/pace/uploads.ts";
import type { RateLimiter } from "../kernel/rate-limit.ts";
import type { Cursors } from "./cursor.ts";
import type { Metrics } from "./metrics.ts";
import type { ResponseStore } from "./response-store.ts";

/** Names of headers and methods that follow from the declarations of all operations. */
export interface DeclaredHeaders {
  /** Response headers that a page on another origin may read, as `Access-Control-Expose-Headers` lists them. */
  exposed: string;
  /** Request headers that such a page may send, as `Access-Control-Allow-Headers` lists them. */
  allowed: string;
  /** As `Access-Control-Allow-Methods` lists them. */
  methods: string;
  /** In lower case; see `cacheBypassHeaders`. */
  cacheBypass: readonly string[];
}

/** What a caller's requests cost is counted in bytes of bodies and in items. */
export interface WorkLimiters {
  bytes: RateLimiter;
  items: RateLimiter;
}

/** Dependencies for reading requests and sending responses, shared by all rooms. */
export interface HttpDeps {
  config: Config;
  now: () => number;
  declaredHeaders: DeclaredHeaders;
  metrics: Metrics;
  authenticator: Authenticator;
  readLimiter: RateLimiter;
  admission: Admission;
  uploads: Uploads;
  workLimiters: WorkLimiters;
  /** Complete responses that can be sent again. */
  responses: ResponseStore;
  /** undefined if no secret is configured to sign cursors with. */
  cursors: Cursors | undefined;
}
