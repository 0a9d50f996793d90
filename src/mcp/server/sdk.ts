/**
 * The part of the MCP server SDK that is used, to be imported when it is needed: most requests to the registry are none
 * of MCP's, and what is not named here is left out of the bundle.
 */
export { createMcpHandler, Server } from "@modelcontextprotocol/server";
