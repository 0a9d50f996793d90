import type { Principal } from "../auth/principal.ts";
import { service, version } from "../kernel/version.ts";
import type { NegotiationResponse } from "./answer-schema.ts";
import type { SessionsDeps } from "./deps.ts";
import { serverCapabilities } from "./offers.ts";
import { type OpenedSession, sessionExtensions } from "./open.ts";
import { sessionDocument } from "./response.ts";
import type { CapabilityDetail } from "./schema.ts";

/** The answer to a negotiation. */
export function describeSession(
  { ownOffer }: SessionsDeps,
  principal: Principal,
  { session, resumeToken, extensions }: OpenedSession,
): NegotiationResponse {
  const details = [...serverCapabilities(principal), ...sessionExtensions.map(detailOf)];
  const { negotiated, extensions: kept, ...shown } = sessionDocument(session, principal);
  return {
    server_name: service,
    server_version: version,
    supported_capabilities: details.map(({ name }) => name),
    available_tools: [...ownOffer.tools],
    available_resources: ownOffer.resources(),
    capability_details: Object.fromEntries(details.map((detail) => [detail.name, detail])),
    // A resumed session shows its stored subset.
    extensions: extensions ?? kept ?? {},
    negotiated,
    session: { ...shown, resume_token: resumeToken },
  };
}

/** An extension at its newest version. */
function detailOf({ name, description, versions }: (typeof sessionExtensions)[number]): CapabilityDetail {
  const newest = versions.at(-1);
  if (newest === undefined) throw new Error(`${name} has no version`);
  return { name, description, ...newest };
}
