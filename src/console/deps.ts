import type { CatalogDeps } from "../catalog/deps.ts";
import type { OpenApiAsset } from "../http/openapi/asset.ts";
import type { SessionsDeps } from "../sessions/deps.ts";
import type { PageStore } from "./page-store.ts";
import type { SignIns } from "./sign-in/seal.ts";
import type { StaticFiles } from "./static-files.ts";

export interface ConsoleDeps extends Omit<CatalogDeps & SessionsDeps, "tenant" | "directory"> {
  tenant: SessionsDeps["tenant"];
  directory(): ReturnType<CatalogDeps["directory"]> & ReturnType<SessionsDeps["directory"]>;
  consoleFiles: StaticFiles;
  /** What the reference shows: the description is an asset, and no part of the bundle. */
  openapi: OpenApiAsset;
  /** Rendered pages that do not depend on who asks. */
  pages: PageStore;
  /** undefined if no secret is configured to seal cookies with: nobody can sign in. */
  signIns: SignIns | undefined;
}
