/**
 * Hop-by-hop and framing headers, which the runtime sets itself. Accept-Encoding is one of them: the runtime decodes
 * only encodings that it requested. Also headers that would reveal the caller behind the registry.
 */
const managedHeaders =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|content-length|expect|accept-encoding|forwarded|via|x-forwarded-.*|x-real-ip|cf-.*|true-client-ip)$/;

/**
 * Headers that may be sent to another origin after a redirect. An allowlist, because credentials may have any name
 * (Authorization, Cookie, X-API-Key, Mcp-Session-Id) and a denylist leaks the one it forgot.
 */
const crossOriginSafeHeaders = new Set(["accept", "accept-language", "user-agent", "mcp-protocol-version"]);

/**
 * Headers about the encoded bytes or the connection, which do not apply to the decoded body. Cookies are not stored.
 */
const strippedResponseHeaders = ["content-encoding", "content-length", "transfer-encoding", "connection", "set-cookie"];

/** undefined if a name or value is not valid in HTTP. No error repeats the value: it may be a secret. */
export function outboundHeaders(given: HeadersInit | undefined): Headers | undefined {
  try {
    return omitHeaders(new Headers(given), (name) => managedHeaders.test(name));
  } catch {
    return undefined;
  }
}

export function headersForOtherOrigin(headers: Headers): Headers {
  return omitHeaders(headers, (name) => !crossOriginSafeHeaders.has(name));
}

export function responseHeaders(answered: Headers): Headers {
  return omitHeaders(answered, (name) => strippedResponseHeaders.includes(name));
}

function omitHeaders(headers: Headers, isDropped: (name: string) => boolean): Headers {
  const kept = new Headers();
  for (const [name, value] of headers) if (!isDropped(name)) kept.append(name, value);
  return kept;
}
