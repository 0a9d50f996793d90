import { isObject, withoutUndefined } from "../../kernel/json.ts";
import { child, follow, items, members, type OpenApiDocument, type Place, pathOf } from "./document.ts";

/** Authentication of an operation. */
interface Security {
  /** True if every alternative requires authentication. */
  required: boolean;
  metadata: { auth_type?: string; auth_location?: string; auth_param_name?: string };
}

const noSecurity: Security = { required: false, metadata: {} };

/**
 * The operation's security requirements, or else the document's; an empty list means none. Describes the first scheme
 * of the first alternative that has one.
 */
export function readSecurity(source: OpenApiDocument, operation: Place): Security {
  const own = child(operation, "security");
  const place = own.value === undefined ? child(source.top, "security") : own;
  const alternatives = items(source, place).map((alternative) => members(source, alternative));
  const scheme = alternatives.find((schemes) => schemes.length > 0)?.[0];
  if (scheme === undefined) return noSecurity;
  const required = alternatives.every((schemes) => schemes.length > 0);
  return { required, metadata: readScheme(source, scheme) };
}

function readScheme(source: OpenApiDocument, [name, requirement]: [string, Place]): Security["metadata"] {
  const schemes =
    source.version === "2.0"
      ? child(source.top, "securityDefinitions")
      : child(child(source.top, "components"), "securitySchemes");
  const declared = child(schemes, name);
  if (declared.value === undefined) {
    source.warnings.add(`${pathOf(requirement)}: no security scheme has this name`);
    return {};
  }
  const scheme = follow(source, declared)?.value;
  if (!isObject(scheme)) return {};
  const authorization = { auth_location: "header", auth_param_name: "Authorization" };
  switch (scheme.type) {
    case "apiKey":
      return withoutUndefined({
        auth_type: "api_key",
        auth_location: typeof scheme.in === "string" ? scheme.in : undefined,
        auth_param_name: typeof scheme.name === "string" ? scheme.name : undefined,
      });
    case "basic":
      return { auth_type: "basic", ...authorization };
    case "http":
      return { ...httpType(scheme.scheme), ...authorization };
    case "oauth2":
      return { auth_type: "oauth2", ...authorization };
    case "openIdConnect":
      return { auth_type: "openid", ...authorization };
    default:
      return {};
  }
}

/** Bearer and basic only: the document does not say how to use other HTTP schemes. */
function httpType(scheme: unknown): Security["metadata"] {
  const name = typeof scheme === "string" ? scheme.toLowerCase() : "";
  return name === "bearer" || name === "basic" ? { auth_type: name } : {};
}
