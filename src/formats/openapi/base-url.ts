import { isObject } from "../../kernel/json.ts";
import { child, type OpenApiDocument, type Place } from "./document.ts";

/** Base URL of the paths, without a trailing slash. Relative if neither document nor source URL gives a host. */
export function baseUrl(source: OpenApiDocument, operation: Place, pathItem: Place): string | undefined {
  const declared = () =>
    source.version === "2.0" ? fromHost(source, operation) : fromServers(source, operation, pathItem);
  const url = source.endpoint ?? declared();
  let end = url?.length ?? 0;
  while (end > 0 && url?.[end - 1] === "/") end -= 1;
  return url?.slice(0, end) || undefined;
}

/** The first server of the nearest `servers` list: operation, path item, document. */
function fromServers(source: OpenApiDocument, operation: Place, pathItem: Place): string | undefined {
  for (const owner of [operation, pathItem, source.top]) {
    const { value: server } = child(child(owner, "servers"), 0);
    if (isObject(server) && typeof server.url === "string") return absolute(source, filled(server.url, server));
  }
  return source.url === undefined ? undefined : absolute(source, "/");
}

function filled(template: string, { variables }: Record<string, unknown>): string {
  if (!isObject(variables)) return template;
  return template.replace(/\{([^{}]*)\}/g, (whole, name: string) => {
    const variable = Object.hasOwn(variables, name) ? variables[name] : undefined;
    return isObject(variable) && typeof variable.default === "string" ? variable.default : whole;
  });
}

function fromHost(source: OpenApiDocument, operation: Place): string | undefined {
  const { host, basePath } = source.document;
  const path = typeof basePath === "string" ? basePath : "";
  if (typeof host !== "string" || host === "") return absolute(source, path);
  const [scheme = "https"] =
    preferred(source, child(operation, "schemes").value) ?? preferred(source, source.document.schemes) ?? [];
  return `${scheme}://${host}${path.startsWith("/") || path === "" ? path : `/${path}`}`;
}

function preferred(source: OpenApiDocument, schemes: unknown): string[] | undefined {
  if (!Array.isArray(schemes)) return undefined;
  source.steps += schemes.length;
  const names = schemes.filter((scheme): scheme is string => typeof scheme === "string");
  return names.includes("https") ? ["https"] : names.slice(0, 1);
}

/** Resolves a relative URL against the document's source URL, if known. */
function absolute(source: OpenApiDocument, url: string): string {
  if (source.url === undefined || !URL.canParse(url || "/", source.url)) return url;
  // URL parsing would escape the braces of variables without a default.
  return url.includes("{") ? url : new URL(url || "/", source.url).href;
}
