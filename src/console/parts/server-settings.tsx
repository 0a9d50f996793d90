import type { ServerSettings } from "../../registry/server-schema.ts";
import { Box, Field } from "../forms/form.tsx";
import type { Differing } from "../forms/stale.tsx";
import {
  AdvertiseBoxes,
  type Advertising,
  advertisingIn,
  advertisingOf,
  advertisingRows,
  shownAdvertising,
} from "./advertising.tsx";

/** What the form of a server's settings has in it. */
export interface Settings {
  visibility: string;
  status: string;
  statusMessage: string;
  index: Advertising;
}

export function settingsShown({
  visibility,
  status = "active",
  statusMessage = "",
  advertise,
}: ServerSettings): Settings {
  return { visibility, status, statusMessage, index: shownAdvertising(advertise) };
}

export function settingsIn(form: URLSearchParams): Settings {
  return {
    visibility: form.get("visibility") ?? "",
    status: form.get("status") ?? "",
    statusMessage: (form.get("statusMessage") ?? "").trim(),
    index: advertisingIn(form),
  };
}

/** The members of the config that the form is about. */
export function changeOf({ visibility, status, statusMessage, index }: Settings): Record<string, unknown> {
  return {
    ...{ visibility, status, advertise: advertisingOf(index) },
    statusMessage: statusMessage === "" ? null : statusMessage,
  };
}

export function differing(now: Settings, typed: Settings): Differing[] {
  const labels = { visibility: "Visibility", status: "Status", statusMessage: "Message" } as const;
  const own = (Object.keys(labels) as (keyof typeof labels)[])
    .filter((name) => now[name] !== typed[name])
    .map((name) => ({ label: labels[name], now: now[name], typed: typed[name] }));
  return [...own, ...advertisingRows(advertisingOf(now.index), typed.index)];
}

const visibilities = { tenant: "Members of the tenant only", public: "Everybody" } as const;
const statuses = {
  active: "active",
  deprecated: "deprecated: works, but readers should move on",
  withdrawn: "withdrawn: can be read, nothing is chosen from it",
} as const;

export function SettingsFields({ of }: { of: Settings }) {
  return (
    <>
      <fieldset>
        <legend>Who may read it</legend>
        {Object.entries(visibilities).map(([value, label]) => (
          <Box type="radio" name="visibility" value={value} label={label} checked={of.visibility === value} />
        ))}
        <p class="small mute">
          Made private, it is gone from every data centre within a minute or two; the page then says by when.
        </p>
      </fieldset>
      <fieldset>
        <legend>Status</legend>
        {Object.entries(statuses).map(([value, label]) => (
          <Box type="radio" name="status" value={value} label={label} checked={of.status === value} />
        ))}
      </fieldset>
      <Field
        name="statusMessage"
        label="Message about the status"
        value={of.statusMessage}
        max={1_024}
        help="For readers: why, and what to use instead."
      />
      <AdvertiseBoxes of={of.index} />
    </>
  );
}
