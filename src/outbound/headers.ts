/**
 * Headers of one connection or of its framing, which the runtime writes itself. Accept-Encoding is one of them: the
 * runtime decodes only what it asked for. So are those that would say who stands behind the registry.
 */
const managedHeaders =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|content-length|expect|accept-encoding|forwarded|via|x-forwarded-.*|x-real-ip|cf-.*|true-client-ip)$/;

/**
 * What another origin may still be told after a redirect. A list of what is harmless, as credentials hide under any
 * name (Authorization, Cookie, X-API-Key, Mcp-Session-Id) and the one that was forgotten is the one that leaks.
 */
const crossOriginSafeHeaders = new Set(["accept", "accept-language", "user-agent", "mcp-protocol-version"]);

/** They speak of the bytes on the wire, or of a connection; what is handed on has been decoded. No cookies are kept. */
const notForReaders = ["content-encoding", "content-length", "transfer-encoding", "connection", "set-cookie"];

/** Undefined where a name or value is none that HTTP can carry. What it was is not repeated: it may be a secret. */
export function outboundHeaders(given: HeadersInit | undefined): Headers | undefined {
  try {
    return without(new Headers(given), (name) => managedHeaders.test(name));
  } catch {
    return undefined;
  }
}

export function headersForOtherOrigin(headers: Headers): Headers {
  return without(headers, (name) => !crossOriginSafeHeaders.has(name));
}

export function readableHeaders(answered: Headers): Headers {
  return without(answered, (name) => notForReaders.includes(name));
}

function without(headers: Headers, isDropped: (name: string) => boolean): Headers {
  const kept = new Headers();
  for (const [name, value] of headers) if (!isDropped(name)) kept.append(name, value);
  return kept;
}
