import type { Description } from "../description.ts";
import { type Document, generated, listOperations, slug } from "./document.ts";

/** Codes that so many operations share are not followed by a list. */
const most = 12;

export function errorsPage(document: Document, description: Description): string {
  const { failureCodes, statusOf, failure } = description;
  const facts = description.operationFacts();
  const operations = listOperations(document);
  const sections = failureCodes
    .toSorted((a, b) => statusOf(a) - statusOf(b) || (a < b ? -1 : 1))
    .map((code) => {
      const { message, details } = failure(code);
      const ids = facts.filter(({ fails }) => fails.includes(code)).map(({ id }) => id);
      const links = operations
        .filter(({ operationId }) => ids.includes(operationId))
        .map(({ operationId, tag }) => `[${operationId}](operations/${slug(tag)}.md#${operationId.toLowerCase()})`);
      const where =
        links.length === 0 ? "any path" : links.length > most ? `${links.length} operations` : links.join(", ");
      const todo = details?.hint === undefined ? "" : `\n- What to do: ${details.hint}.`;
      return `## ${code}\n\n- Status ${statusOf(code)}: ${message}.${todo}\n- Answered by: ${where}.`;
    });
  return `${generated}

# Errors

Every code, by status. The answer's own message may say more, and \`details.hint\` names the next step with the names of the request
filled in.

${sections.join("\n\n")}
`.replaceAll("..\n", ".\n");
}
