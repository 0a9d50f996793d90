import type { CatalogDeps } from "../catalog/deps.ts";
import type { SessionsDeps } from "../sessions/deps.ts";
import type { PageStore } from "./page-store.ts";
import type { SignIns } from "./sign-in/seal.ts";
import type { StaticFiles } from "./static-files.ts";

export interface ConsoleDeps extends Omit<CatalogDeps & SessionsDeps, "tenant" | "directory"> {
  tenant: SessionsDeps["tenant"];
  directory(): ReturnType<CatalogDeps["directory"]> & ReturnType<SessionsDeps["directory"]>;
  consoleFiles: StaticFiles;
  /** Rendered pages that do not depend on who asks. */
  pages: PageStore;
  /** undefined if no secret is configured to seal cookies with: nobody can sign in. */
  signIns: SignIns | undefined;
}
