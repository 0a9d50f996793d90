/** What every honest peer offers, so that what was read can be compared with what was declared. */

export const serverInfo = {
  name: "toolbox",
  version: "3.1.4",
  title: "A box of tools",
  websiteUrl: "https://example.com",
};
export const instructions = "Ask before you delete.";

type Item = Record<string, unknown>;

const icons = [{ src: "data:image/svg+xml;base64,PHN2Zy8+", mimeType: "image/svg+xml", sizes: ["any"], theme: "dark" }];

const tools: Item[] = Array.from({ length: 300 }, (_, index) => ({
  name: `tool_${String(index).padStart(3, "0")}`,
  title: `Tool ${index}`,
  description: `Does thing ${index}.\nTwice, if need be.`,
  inputSchema: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { owner: { $ref: "#/$defs/name" }, count: { type: "integer", minimum: 0, default: 0 } },
    required: ["owner"],
    additionalProperties: false,
    $defs: { name: { type: "string", pattern: "^[a-z]+$", examples: [null] } },
  },
  outputSchema: { type: "object", properties: { ok: { type: "boolean" } }, "x-own": { nested: [1, { a: false }] } },
  annotations: {
    title: "Shown",
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
    "vendor/hint": false,
  },
  icons,
  _meta: { "example.com/weight": index, "example.com/none": null },
  "vendor.example/unknown": { kept: true },
}));

const prompts: Item[] = [
  {
    name: "review",
    title: "Review",
    description: "Reviews a change.",
    arguments: [
      { name: "diff", description: "The change.", required: true, "x-own": 1 },
      { name: "tone", required: false },
    ],
    icons,
    extra: "kept",
  },
  { name: "greet" },
];

const resources: Item[] = Array.from({ length: 7 }, (_, index) => ({
  uri: `file:///notes/${index}.md`,
  name: `note-${index}`,
  title: `Note ${index}`,
  mimeType: "text/markdown",
  size: index * 100,
  annotations: { audience: ["user"], priority: 0, lastModified: "2026-01-02T03:04:05Z" },
  "x-own": false,
}));

const resourceTemplates: Item[] = [
  { uriTemplate: "file:///notes/{id}.md", name: "note", description: "One note.", mimeType: "text/markdown", icons },
];

export const declared = { tools, prompts, resources, resourceTemplates };
export type ListName = keyof typeof declared;

export const capabilities = {
  tools: { listChanged: true },
  prompts: { listChanged: false },
  resources: { listChanged: false },
};

export const methods = {
  "tools/list": "tools",
  "prompts/list": "prompts",
  "resources/list": "resources",
  "resources/templates/list": "resourceTemplates",
} as const satisfies Record<string, ListName>;

const PAGE = 70;

/** One page of a list, with an opaque cursor to the next. */
export function pageOf(list: ListName, cursor: string | undefined) {
  const start = cursor === undefined ? 0 : Number(Buffer.from(cursor, "base64url").toString());
  const items = declared[list].slice(start, start + PAGE);
  const next =
    start + PAGE < declared[list].length ? Buffer.from(String(start + PAGE)).toString("base64url") : undefined;
  return { [list]: items, ...(next === undefined ? {} : { nextCursor: next }) };
}
