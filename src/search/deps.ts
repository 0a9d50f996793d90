import type { HttpDeps } from "../http/deps.ts";
import type { SearchDirectory, SearchTenant } from "./contract.ts";

export interface SearchDeps extends HttpDeps {
  tenant(name: string): SearchTenant;
  directory(): SearchDirectory;
}
