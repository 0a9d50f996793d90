import type { TenantKey } from "../kernel/names.ts";
import type { DirectoryView } from "./view.ts";

/** A tenant with more items than this is asked itself: looking at each takes as long as asking. */
const mostItems = 4_096;

/** The name of the public server of a tenant that has an item with this id; undefined if none of those looked at has. */
export function serverOfItem(view: DirectoryView, tenant: TenantKey, id: string): string | undefined {
  let left = mostItems;
  for (const { segment, isLive } of view.segments) {
    for (let place = segment.firstFrom({ tenant, name: "" }); place < segment.places; place += 1) {
      const server = segment.placeAt(place);
      if (server.tenant !== tenant) break;
      if (!isLive(place)) continue;
      const [start, end] = segment.cardsOf(place);
      left -= end - start;
      if (left < 0) return undefined;
      for (let card = start; card < end; card += 1) {
        if (segment.text(segment.card.ids[card] ?? 0) === id) return server.name;
      }
    }
  }
  return undefined;
}
