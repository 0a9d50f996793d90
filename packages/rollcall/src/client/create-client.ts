import { changePage, changes } from "./changes.ts";
import { type Connection, type ConnectOptions, connect } from "./connection.ts";
import { definitions } from "./definitions.ts";
import { capability, catalog, diff, history, read, revision, view } from "./read.ts";
import { search } from "./search.ts";
import { negotiate } from "./session.ts";
import { hooks, importDocument, publish, subscriptions, whoami } from "./write.ts";

/** A function of this library without its first argument. */
type Method<F> = F extends (connection: Connection, ...args: infer Args) => infer Answer
  ? (...args: Args) => Answer
  : never;

const methods = {
  ...{ search, definitions, read, capability, view, catalog, history, revision, diff },
  ...{ negotiate, changes, changePage, publish, import: importDocument, whoami },
};

export type Client = { readonly [Name in keyof typeof methods]: Method<(typeof methods)[Name]> } & {
  readonly connection: Connection;
  readonly hooks: ReturnType<typeof hooks>;
  readonly subscriptions: ReturnType<typeof subscriptions>;
};

/** Everything as methods of one object. Functions that are imported by name make smaller bundles. */
export function createClient(options: ConnectOptions): Client {
  const connection = connect(options);
  const bound = Object.entries(methods).map(([name, method]) => [
    name,
    (method as (connection: Connection, ...args: unknown[]) => unknown).bind(undefined, connection),
  ]);
  return {
    connection,
    hooks: hooks(connection),
    subscriptions: subscriptions(connection),
    ...Object.fromEntries(bound),
  } as Client;
}
