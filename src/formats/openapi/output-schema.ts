import type { Converted } from "./definitions.ts";
import { isJson, jsonFirst } from "./media-types.ts";
import type { Schemas } from "./schemas.ts";
import { child, follow, members, type Place, type Source } from "./source.ts";

/** What the first successful response with JSON holds; the default response counts where no other means success. */
export function readOutput(source: Source, schemas: Schemas, operation: Place): Converted | undefined {
  const responses = members(source, child(operation, "responses"));
  const successes = responses.filter(([status]) => /^2(?:\d\d|XX)$/i.test(status));
  const candidates = successes.length > 0 ? successes : responses.filter(([status]) => status === "default");
  for (const [, candidate] of candidates) {
    const response = follow(source, candidate);
    const schema = response && responseSchema(source, operation, response);
    if (schema?.value === undefined) continue;
    const converted = schemas.convert(schema);
    if (typeof converted.schema === "object") return converted;
  }
  return undefined;
}

function responseSchema(source: Source, operation: Place, response: Place): Place | undefined {
  if (source.version === "2.0") return producesJson(source, operation) ? child(response, "schema") : undefined;
  const [, reference] = jsonFirst(members(source, child(response, "content"))) ?? [];
  const media = reference && follow(source, reference);
  return media && child(media, "schema");
}

/** 2.0 names the media types beside the responses, for the operation or for all of them; without a word, any may do. */
function producesJson(source: Source, operation: Place): boolean {
  const own = child(operation, "produces").value;
  const types = Array.isArray(own) ? own : source.document.produces;
  if (!Array.isArray(types) || types.length === 0) return true;
  source.steps += types.length;
  return types.some((type) => typeof type === "string" && isJson(type));
}
