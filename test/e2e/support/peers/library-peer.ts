import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { listen, serveWeb } from "./listening.ts";

/** A publisher's own server, which takes only calls that its schema allows. */
const handler = createMcpHandler(() => {
  const server = new McpServer({ name: "town-library", version: "2.0.0" });
  server.registerTool(
    "reserve_book",
    {
      description: "Reserves a book of the library for a reader, to be picked up at a branch.",
      inputSchema: z.strictObject({
        isbn: z.string().regex(/^97[89]\d{10}$/),
        branch: z.enum(["harbour", "market", "station"]),
        days: z.int().min(1).max(14),
        note: z.string().optional(),
      }),
      outputSchema: z.object({ reserved: z.boolean(), until_days: z.number(), branch: z.string() }),
    },
    ({ branch, days }) => {
      const structuredContent = { reserved: true, until_days: days, branch };
      return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
    },
  );
  server.registerTool(
    "opening_hours",
    { description: "When a branch is open.", inputSchema: z.object({ branch: z.string() }) },
    () => ({ content: [{ type: "text", text: "Always." }] }),
  );
  return server;
});

listen((request, response, body) => serveWeb(handler.fetch, request, response, body));
