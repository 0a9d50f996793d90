/** What is asked of every server, in its own paths. */
export const questions = {
  list: "list 30 servers",
  get: "get one server's capabilities",
  search: "search",
} as const;
export type Question = keyof typeof questions;

export interface Peer {
  name: string;
  origin: string;
  /** Some servers have no search. */
  paths: { list: string; get: string; search?: string | undefined };
  headers: Record<string, string>;
}

/** What this registry is called beside its peers. */
export const ownName = "rollcall";
