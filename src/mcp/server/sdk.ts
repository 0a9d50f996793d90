/**
 * The parts of the MCP server SDK in use. Imported dynamically, because most requests are not MCP; other parts are left
 * out of the bundle.
 */
export { createMcpHandler, Server } from "@modelcontextprotocol/server";
