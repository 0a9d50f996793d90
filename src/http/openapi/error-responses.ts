import { type FailureCode, failure } from "../../kernel/failure.ts";
import type { ErrorShape } from "../context.ts";
import type { DocumentSchemas } from "./document-schemas.ts";
import { errorShapes } from "./error-schema.ts";
import { headerRefs } from "./response-headers.ts";

type Json = Record<string, unknown>;

/**
 * The error responses of a document: one component for each set of codes that operations answer with, so that clients
 * have one type for it instead of one per operation.
 */
export class ErrorResponses {
  readonly responses: Record<string, Json> = {};
  readonly #schemas: DocumentSchemas;

  constructor(schemas: DocumentSchemas) {
    this.#schemas = schemas;
  }

  ref(shape: ErrorShape, status: number, codes: readonly FailureCode[]): Json {
    const { name: base, media, code, prefix } = errorShapes[shape];
    const known = [...codes].sort();
    const name = `${prefix}${nameOf(known)}`;
    const narrowed = code.reduceRight<Json>((inner, member) => ({ properties: { [member]: inner } }), { enum: known });
    this.responses[name] ??= {
      description: [...new Set(known.map((each) => failure(each).message))].map((text) => `${text}.`).join(" "),
      headers: headerRefs(headersOf(status, known)),
      content: {
        [media]: { schema: this.#schemas.define(`${name}Error`, { allOf: [this.#schemas.ref(base), narrowed] }) },
      },
    };
    return { $ref: `#/components/responses/${name}` };
  }
}

/** `BadRequestTenant` for ErrorBadRequest, ErrorTenantInvalid and ErrorTenantRequired. */
function nameOf(codes: readonly FailureCode[]): string {
  const words = codes.map((code) =>
    code
      .replace(/^Error(MCP)?/, "")
      .replace(/(?<=.)Error$/, "")
      // Codes of the capability views are written `resource_not_found`.
      .replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase()),
  );
  // The two failures of a name go together: the name alone stands for both.
  const isPair = (word: string) => words.includes(`${word}Invalid`) && words.includes(`${word}Required`);
  const joined = words.map((word) => {
    const subject = word.replace(/(Invalid|Required)$/, "");
    return isPair(subject) ? subject : word;
  });
  return [...new Set(joined)].join("");
}

/** As `sendFailure` sends them. */
function headersOf(status: number, codes: readonly FailureCode[]): string[] {
  if (status === 401 || codes.includes("ErrorInsufficientScope")) return ["WWW-Authenticate"];
  return status === 429 || status === 503 ? ["Retry-After"] : [];
}
