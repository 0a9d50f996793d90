import { readFileSync, statSync } from "node:fs";
import { extname } from "node:path";
import { readJson } from "../../../../../src/kernel/read-json.ts";
import { UsageError } from "../failure.ts";
import { isObject } from "../reader/rpc.ts";

export interface LocalDocument {
  path: string;
  text: string;
  /** Media type by the name of the file, else by what is in it. */
  type: string;
  /** Parsed, if it is JSON. */
  value?: unknown;
}

const mostBytes = 16 * 1_024 * 1_024;

const types: Record<string, string> = {
  ".json": "application/json",
  ".yaml": "application/yaml",
  ".yml": "application/yaml",
  ".graphql": "application/graphql",
  ".graphqls": "application/graphql",
  ".gql": "application/graphql",
  ".rtfs": "application/rtfs",
};

export function readDocument(path: string): LocalDocument {
  let text: string;
  try {
    const { size } = statSync(path);
    if (size > mostBytes) throw new UsageError(`${path} is larger than 16 MiB`);
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(readFileSync(path));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT")
      throw new UsageError(`The file ${path} does not exist`, { hint: "Check its name, relative to this folder." });
    if (code === "EISDIR") throw new UsageError(`${path} is a folder`, { hint: "Name the file with the manifest." });
    if (code === "ERR_ENCODING_INVALID_ENCODED_DATA") throw new UsageError(`${path} is not text in UTF-8`);
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${path} cannot be read: ${code ?? (error as Error).message}`);
  }
  const type = types[extname(path).toLowerCase()] ?? guessed(text);
  if (type !== "application/json") return { path, text, type };
  try {
    return { path, text, type, value: readJson(text) };
  } catch (error) {
    throw new UsageError(`${path} is not JSON: ${(error as Error).message}`, { hint: lookOfText(text) });
  }
}

function guessed(text: string): string {
  const start = text.trimStart();
  if (/^[{[]/.test(start)) return "application/json";
  if (start.startsWith("(")) return "application/rtfs";
  if (/^(?:"""|#|type |schema |interface |enum |input |scalar |directive )/.test(start) && /^\s*type \w+/m.test(text))
    return "application/graphql";
  return "application/yaml";
}

function lookOfText(text: string): string | undefined {
  const start = text.trimStart().slice(0, 200).toLowerCase();
  if (start.startsWith("<!doctype html") || start.startsWith("<html")) return "It looks like a web page.";
  if (/^<{7} /m.test(text)) return "It has an unresolved merge conflict.";
  return undefined;
}

const sections = ["tools", "prompts", "resources", "resourceTemplates", "generators", "operations", "agents", "skills"];

/** What a document that is no manifest looks like, and which command takes it. */
export function lookAlike({ path, type, value, text }: LocalDocument): { what: string; instead: string } | undefined {
  if (type === "application/graphql")
    return { what: "a GraphQL schema", instead: `rollcall import graphql ${path} T/NAME` };
  if (type === "application/rtfs") return { what: "an RTFS document", instead: `rollcall import rtfs ${path} T/NAME` };
  if (type === "application/yaml") {
    if (/^(?:openapi|swagger)\s*:/m.test(text))
      return { what: "an OpenAPI document", instead: `rollcall import openapi ${path} T/NAME` };
    return undefined;
  }
  if (Array.isArray(value)) return { what: "a list", instead: 'wrap it: {"tools": […]}' };
  if (!isObject(value))
    return {
      what: `${value === null ? "null" : `a ${typeof value}`}`,
      instead: 'a manifest is an object such as {"tools": […]}',
    };
  if (sections.some((name) => Array.isArray(value[name]))) return undefined;
  if ("openapi" in value || "swagger" in value)
    return { what: "an OpenAPI document", instead: `rollcall import openapi ${path} T/NAME` };
  if (isObject(value.result) && "jsonrpc" in value)
    return { what: "an MCP answer", instead: `rollcall import mcp ${path} T/NAME` };
  if (isObject(value.mcpServers)) {
    return {
      what: "a client's configuration",
      instead: "publish the server itself: rollcall publish T/NAME -- COMMAND",
    };
  }
  if ("lockfileVersion" in value) return { what: "a lock file", instead: "rollcall verify reads it" };
  if (typeof value.$schema === "string" && value.$schema.includes("server.schema.json")) {
    return { what: "a server.json of the MCP registry", instead: `rollcall api POST /v0.1/publish -d @${path}` };
  }
  if (isObject(value.dependencies) || isObject(value.devDependencies)) {
    return { what: "a package.json", instead: "rollcall init --from package.json makes a manifest of it" };
  }
  if (value.success === true && "data" in value)
    return { what: "an answer of the registry", instead: "publish what is in its data" };
  return undefined;
}
