import type { TenantKey } from "../kernel/names.ts";
import type { DirectoryView } from "./view.ts";

/** The name of the public server of a tenant that has an item with this id; undefined if none has. */
export function serverOfItem(view: DirectoryView, tenant: TenantKey, id: string): string | undefined {
  for (const { segment, isLive } of view.segments) {
    for (let place = segment.firstFrom({ tenant, name: "" }); place < segment.places; place += 1) {
      const server = segment.placeAt(place);
      if (server.tenant !== tenant) break;
      if (!isLive(place)) continue;
      const [start, end] = segment.cardsOf(place);
      for (let card = start; card < end; card += 1) {
        if (segment.text(segment.card.ids[card] ?? 0) === id) return server.name;
      }
    }
  }
  return undefined;
}
