import { catalogOperations } from "./catalog/operations.ts";
import { registryOperations } from "./registry/operations.ts";
import { searchOperations } from "./search/operations.ts";
import { serviceOperations } from "./service/operations.ts";

/** Every operation of the HTTP API. */
export const operations = [...searchOperations, ...catalogOperations, ...registryOperations, ...serviceOperations];
