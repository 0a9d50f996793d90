import type { Principal } from "../auth/principal.ts";
import { etagOf } from "../domain/etag.ts";
import { type Failure, failure } from "../domain/failure.ts";
import type { Head } from "../domain/head.ts";
import { err, ok, type Result } from "../domain/result.ts";
import type { Services } from "../services.ts";
import type { Freshness, Resolved, ServerRef } from "../storage/heads.ts";
import { farther, type Source } from "../storage/operations.ts";
import { namedView, viewNames } from "../views/named.ts";
import type { View } from "../views/view.ts";
import { asCached, resolveHead } from "./manifest.ts";
import { readableHead } from "./permission.ts";

/** A view's bytes, with what an answer says about them. */
export interface ShownView {
  bytes: Uint8Array;
  etag: string;
  generation: number;
  source: Source;
}

/** One view of one server. */
export async function readView(
  services: Services,
  principal: Principal,
  ref: ServerRef,
  view: View,
  freshness: Freshness = asCached,
): Promise<Result<ShownView, Failure>> {
  const resolved = await resolveHead(services, principal, ref, freshness);
  if (!resolved.ok) return resolved;
  const head = readableHead(principal, ref.tenant, resolved.value, freshness.minGeneration);
  return head.ok ? showView(services, principal, view, head.value, resolved.value) : head;
}

/** The view of a head that the principal may read. */
export async function showView(
  services: Services,
  principal: Principal,
  view: View,
  head: Head,
  { asOf, source }: Pick<Resolved, "asOf" | "source">,
): Promise<Result<ShownView, Failure>> {
  const rendered = await services.views.render(head, view);
  if (rendered !== undefined) return shown(view, head, asOf, rendered.bytes, farther(source, rendered.source));
  // The revision was pruned between head and body. The object knows the present one, which may be another's by now.
  const current = await services.heads.resolve(head, { strong: true, minGeneration: 0 });
  const present = readableHead(principal, head.tenant, current, 0);
  if (!present.ok) return present;
  const again = await services.views.render(present.value, view);
  if (again === undefined) {
    return err(failure("ErrorInternalServer", "Failed to fetch capabilities: the manifest is missing"));
  }
  return shown(view, present.value, current.asOf, again.bytes, current.source);
}

function shown(
  view: View,
  head: Head,
  generation: number,
  bytes: Uint8Array | undefined,
  source: Source,
): Result<ShownView, Failure> {
  if (bytes === undefined) return err(failure("resource_not_found"));
  return ok({ bytes, etag: etagOf(head, view.version), generation, source });
}

/** The view behind a name, whoever's it is. */
export function findView(name: string): Result<View, Failure> {
  const view = namedView(name);
  return view === undefined ? err(unknownView(name)) : ok(view);
}

export function unknownView(name: string): Failure {
  const message = `There is no view ${JSON.stringify(name)}; there are ${viewNames.join(", ")}`;
  return failure("resource_not_found", message);
}
