import { err, ok, type Result } from "../../kernel/result.ts";
import { schemaFlags } from "../schema-refs.ts";
import { schemaFault } from "./schema-shape.ts";

type Schema = Record<string, unknown>;

/** What an API refuses in the schema of a tool's arguments. One refused tool fails the whole request. */
export interface SchemaRule {
  /** Keywords that the outermost schema may not have. */
  notAtRoot: readonly string[];
  /** An object without `properties` is refused. */
  needsProperties: boolean;
  /** Names of arguments. */
  propertyName?: RegExp;
}

/** What every API asks for. */
export const anySchema: SchemaRule = { notAtRoot: [], needsProperties: false };

/**
 * The schema of a tool's arguments as the API takes it, or why it does not. Arguments are an object: a missing or empty
 * schema becomes one without properties, and one that has properties and no type gets the type. Nothing else is changed,
 * because a tool expects what its publisher said.
 */
export function sendableSchema(declared: unknown, rule: SchemaRule): Result<Schema, string> {
  if (declared === undefined) return ok({ type: "object", properties: {} });
  if (typeof declared !== "object" || declared === null || Array.isArray(declared)) {
    return err("Its schema is no object");
  }
  const schema = withType(declared as Schema);
  if (schema.type !== "object") {
    const type = schema.type === undefined ? "not given" : JSON.stringify(schema.type).slice(0, 100);
    return err(`The type of its arguments must be "object"; it is ${type}`);
  }
  const refused = rule.notAtRoot.find((keyword) => Object.hasOwn(schema, keyword));
  if (refused !== undefined) return err(`This API takes no ${refused} in the outermost schema`);
  const [remote] = schemaFlags(schema, "");
  if (remote !== undefined) return err(`Its schema refers to another document at ${remote.path}`);
  const fault = schemaFault(schema);
  if (fault !== undefined) return err(`Its schema is wrong: ${fault}`);
  const { properties } = schema;
  const odd = rule.propertyName && Object.keys(properties ?? {}).find((name) => !rule.propertyName?.test(name));
  if (odd !== undefined) return err(`This API takes no argument called ${JSON.stringify(odd).slice(0, 100)}`);
  return ok(rule.needsProperties && properties === undefined ? { ...schema, properties: {} } : schema);
}

function withType(schema: Schema): Schema {
  if (Object.keys(schema).length === 0) return { type: "object", properties: {} };
  return schema.type === undefined && isObject(schema.properties) ? { ...schema, type: "object" } : schema;
}

function isObject(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
