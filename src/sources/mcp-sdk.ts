/**
 * The used part of the MCP client SDK, for a dynamic import. A dynamic import of the package itself would bundle all of
 * it, OAuth included; these named exports make it a fifth smaller.
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
