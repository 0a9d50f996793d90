import type { DirectoryObject } from "./directory-object.ts";

/** The verbs of the directory, as its callers see them. */
export type Directory = Pick<
  DirectoryObject,
  | "cards"
  | "catalog"
  | "claimRemotes"
  | "find"
  | "knows"
  | "list"
  | "listVersions"
  | "releaseClaims"
  | "update"
  | "versionNamed"
  | "versionsOf"
>;

/** There is one directory for the whole deployment. */
export function directoryOf(env: Pick<Env, "DIRECTORY">): Directory {
  return env.DIRECTORY.get(env.DIRECTORY.idFromName("directory")) as unknown as Directory;
}
