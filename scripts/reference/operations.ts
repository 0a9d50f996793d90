import type { Description } from "../description.ts";
import { type Document, generated, type ListedOperation, listOperations, slug, table, typeOf } from "./document.ts";

type Facts = ReturnType<Description["operationFacts"]>[number];

/** A list of all operations. */
export function operationsPage(document: Document, facts: Facts[]): string {
  const all = listOperations(document);
  const sections = document.tags.map(({ name, description }) => {
    const rows = all
      .filter(({ tag }) => tag === name)
      .map(({ method, path, summary, operationId }) => [
        `\`${method} ${path}\``,
        `[${summary}](operations/${slug(name)}.md#${operationId.toLowerCase()})`,
        whoOf(facts, operationId),
      ]);
    return `## ${name}\n\n${description}\n\n${table(["request", "does", "who may call"], rows)}`;
  });
  return `${generated}

# Operations

Every operation of the HTTP API: ${all.length} of them. \`GET /openapi.json\` is the same for programs, [errors](errors.md) has what to do
about each code, [schemas](schemas.md) what requests and answers are made of. Success is \`{"success": true, "data": …}\`, failure
\`{"success": false, "error": {"code", "message", "details"}}\`; below \`/mcp/\`, at \`/mcp\` and below \`/v0.1\` errors have the shape
that those protocols say. Any operation may also answer 500 \`ErrorInternalServer\` and 503 \`ErrorUnavailable\`.

${sections.join("\n\n")}
`;
}

/** One page for each section of the API, by file name. */
export function operationPages(document: Document, facts: Facts[]): Record<string, string> {
  const all = listOperations(document);
  return Object.fromEntries(
    document.tags.map(({ name, description }) => {
      const inside = all.filter(({ tag }) => tag === name).map((operation) => describe(operation, facts));
      const text = `${generated}\n\n# Operations: ${name}\n\n${description} [All operations](../operations.md).\n\n${inside.join("\n\n")}\n`;
      return [`${slug(name)}.md`, text];
    }),
  );
}

function whoOf(facts: Facts[], id: string): string {
  return facts.find((fact) => fact.id === id)?.who ?? "";
}

/** Failures that every operation may have say nothing of this one. */
const everywhere = ["ErrorInternalServer", "ErrorUnavailable"];

function describe(operation: ListedOperation, facts: Facts[]): string {
  const { method, path, summary, operationId, description, parameters = [], requestBody, responses } = operation;
  const codes = (facts.find(({ id }) => id === operationId)?.fails ?? []).filter((code) => !everywhere.includes(code));
  const rows = parameters.map(({ name, in: place, required, description: text = "", schema }) => [
    `\`${name}\``,
    `${place}${required ? ", required" : ""}`,
    `${typeOf(schema)}${schema.default === undefined ? "" : `; default \`${JSON.stringify(schema.default)}\``}`,
    text,
  ]);
  const answers = Object.entries(responses)
    .filter(([status]) => Number(status) < 400)
    .map(([status, { description: text = "", content = {} }]) => [status, kindOf(content), text]);
  const parts = [
    `## ${operationId}`,
    `\`${method} ${path}\` – ${summary}. Who may call: ${whoOf(facts, operationId)}.`,
    description ?? "",
    rows.length === 0 ? "" : table(["parameter", "in", "type", "meaning"], rows),
    requestBody === undefined ? "" : `Body: ${kindOf(requestBody.content)}. ${requestBody.description ?? ""}`.trim(),
    table(["answer", "content", "meaning"], answers),
    `Errors: ${codes.map((code) => `[${code}](../errors.md#${code.toLowerCase()})`).join(", ")}`,
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

function kindOf(content: Record<string, { schema: Parameters<typeof typeOf>[0] }>): string {
  const kinds = Object.entries(content).map(([type, { schema }]) =>
    type === "application/json" ? typeOf(schema) : `${type}${schema.$ref === undefined ? "" : ` ${typeOf(schema)}`}`,
  );
  return kinds.join(", ") || "–";
}
