import { type Described, denied } from "../http/described.ts";

/** The service itself: description, health, metrics and discovery. */
export const serviceOperations: Record<string, Record<string, Described>> = {
  "/": {
    get: { id: "getService", summary: "What this is and where to go", answers: { 200: "Links." }, anonymous: true },
  },
  "/healthz": {
    get: { id: "getHealth", summary: "Whether it answers", answers: { 200: "It does." }, anonymous: true },
  },
  "/schemas/": {
    get: {
      id: "listSchemas",
      summary: "The published JSON Schemas",
      answers: { 200: "Their paths." },
      anonymous: true,
    },
  },
  "/schemas/{file}": {
    get: {
      id: "getSchema",
      summary: "One JSON Schema",
      answers: { 200: "The schema.", 404: "No such schema." },
      anonymous: true,
    },
  },
  "/.well-known/oauth-protected-resource": {
    get: {
      id: "getResourceMetadata",
      summary: "How to get a token (RFC 9728)",
      answers: { 200: "Resource metadata." },
      anonymous: true,
    },
  },
  "/.well-known/oauth-protected-resource/mcp": {
    get: {
      id: "getMcpResourceMetadata",
      summary: "How to get a token for the MCP endpoint (RFC 9728)",
      answers: { 200: "Resource metadata." },
      anonymous: true,
    },
  },
  "/.well-known/ai-catalog.json": {
    get: {
      id: "getAiCatalog",
      summary: "Where the server card is",
      answers: { 200: "An AI catalogue." },
      anonymous: true,
    },
  },
  "/mcp/server-card": {
    get: {
      id: "getServerCard",
      summary: "The registry as an MCP server: its name, its version, its endpoint",
      answers: { 200: "An MCP server card." },
      anonymous: true,
    },
  },
  "/robots.txt": {
    get: { id: "getRobots", summary: "What crawlers may read", answers: { 200: "As text." }, anonymous: true },
  },
  "/api/metrics": {
    get: {
      id: "getMetrics",
      summary: "Counts, latency and cache sources of one isolate, for admins",
      answers: {
        200: "Requests by route, status, source and time taken, and the operations that they touched: memory, cacheReads, cacheWrites, kvReads, kvWrites, objectCalls, rowsRead, rowsWritten.",
        ...denied,
      },
    },
  },
};
