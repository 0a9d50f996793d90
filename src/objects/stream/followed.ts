import type { StreamEvent } from "../../domain/event-stream.ts";
import type { Topic } from "../../domain/topic.ts";
import type { Tenant } from "../tenant/tenant-stub.ts";
import { FollowedLog } from "./followed-log.ts";
import { FollowedResources, type ResourceInterest } from "./followed-resources.ts";
import { FollowedSubset } from "./followed-subset.ts";

/** What a stream tells of: tenants, each read on from where it was left, page by page. */
export interface Followed {
  readonly tenants: readonly string[];
  /** How far the reader has come: the id that it comes back with. */
  readonly position: string;
  /** The next events of one tenant, oldest first, and whether there are others after them already. */
  next(tenant: string): Promise<{ events: StreamEvent[]; more: boolean }>;
  /** Looks once before the stream opens, where that is not told but compared with later. */
  begin?(): Promise<void>;
  /** First and last words of a stream whose readers cannot come back to a position. */
  readonly frame?: { opening: string; closing: string };
}

/** The same as a caller names it. */
export type Interest =
  | { kind: "subset"; topics: Topic[] }
  | { kind: "log"; tenant: string; since: number }
  | ResourceInterest;

/** A tenant as far as it is followed. */
export type FollowedTenant = Pick<
  Tenant,
  "changes" | "changesOf" | "head" | "indexState" | "advertise" | "advertisedServers"
>;

export function follow(interest: Interest, tenantOf: (name: string) => FollowedTenant): Followed {
  switch (interest.kind) {
    case "subset":
      return new FollowedSubset(interest.topics, tenantOf);
    case "log":
      return new FollowedLog(interest, tenantOf);
    case "resources":
      return new FollowedResources(interest, tenantOf);
  }
}
