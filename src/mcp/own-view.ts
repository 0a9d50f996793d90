import type { Failure } from "../domain/failure.ts";
import { err, ok, type Result } from "../domain/result.ts";
import { findView, unknownView } from "../reading/view.ts";
import { selfManifest } from "../self.ts";
import type { Services } from "../services.ts";

/** A view of the registry itself, for anyone. */
export function ownView(services: Services, name: string): Result<{ text: string; contentType: string }, Failure> {
  const view = findView(name);
  if (!view.ok) return view;
  const { manifest, head } = selfManifest(services);
  const text = view.value.render(manifest, head);
  return text === undefined ? err(unknownView(name)) : ok({ text, contentType: view.value.contentType });
}
