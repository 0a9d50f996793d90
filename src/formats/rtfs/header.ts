/** Where an API's operation is called. */
export interface Endpoint {
  base_url?: string;
  endpoint_method?: string;
  endpoint_path?: string;
}

/**
 * The flat layout has no field for an operation's endpoint: its writer leaves it in the comments above the capability
 * (`Base URL: https://…`, `Endpoint: GET /path`), and nowhere else but in code.
 */
export function endpointIn(comments: readonly string[]): Endpoint {
  const endpoint: Endpoint = {};
  for (const comment of comments) {
    const [, base] = /^Base URL: (\S+)$/.exec(comment) ?? [];
    const [, method, path] = /^Endpoint: ([A-Z]+) (\S+)$/.exec(comment) ?? [];
    if (base !== undefined) endpoint.base_url = base;
    if (method !== undefined && path !== undefined) {
      endpoint.endpoint_method = method;
      endpoint.endpoint_path = path;
    }
  }
  return endpoint;
}
