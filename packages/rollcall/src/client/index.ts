export { ChainBroken, type Change, checkLink, genesis } from "./chain.ts";
export { type ChangePage, type ChangesOptions, changePage, changes } from "./changes.ts";
export {
  type AnswerMeta,
  type Connection,
  type ConnectOptions,
  connect,
  type Fetch,
  type RequestEvent,
  type Token,
} from "./connection.ts";
export { type Client, createClient } from "./create-client.ts";
export {
  type Definitions,
  type DefinitionsFor,
  type DefinitionsOptions,
  definitions,
  type LeftOut,
  type NamedItem,
  type Pin,
} from "./definitions.ts";
export { isRollcallError, RollcallError } from "./errors.ts";
export {
  type Capabilities,
  type Capability,
  type CatalogFilter,
  type CatalogPage,
  capability,
  catalog,
  diff,
  history,
  type Read,
  type ReadOptions,
  type RevisionDiff,
  type RevisionPage,
  read,
  revision,
  type ViewName,
  view,
  type WholeRevision,
} from "./read.ts";
export {
  type Include,
  type Kind,
  type SearchDimension,
  type SearchFilters,
  type SearchOptions,
  type SearchPage,
  type SearchResult,
  search,
} from "./search.ts";
export { type ItemChange, type NegotiateOptions, negotiate, Session } from "./session.ts";
export type { components, paths } from "./types.ts";
export {
  hooks,
  type ImportFormat,
  type ImportResult,
  importDocument,
  type PublishOptions,
  type PublishResult,
  publish,
  subscriptions,
  type Whoami,
  whoami,
} from "./write.ts";
