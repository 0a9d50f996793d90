/**
 * The part of the MCP client SDK that is used, to be imported when it is needed: a bundler keeps all of a package that
 * is imported that way, with its OAuth, but only these of it here, which is a fifth less.
 */
export type { DiscoverResult, JSONRPCMessage, PriorDiscovery, Transport } from "@modelcontextprotocol/client";
export {
  Client,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
  UnsupportedProtocolVersionError,
} from "@modelcontextprotocol/client";
