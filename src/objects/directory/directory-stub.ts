import { countedStub } from "../../storage/counted.ts";
import type { Operations } from "../../storage/operations.ts";
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
export function directoryOf(env: Pick<Env, "DIRECTORY">, operations: Operations): Directory {
  const stub = env.DIRECTORY.get(env.DIRECTORY.idFromName("directory"));
  return countedStub(stub, operations) as unknown as Directory;
}
