import type { Advertise } from "../../registry/schema.ts";
import { Box } from "../forms/form.tsx";
import type { Differing } from "../forms/stale.tsx";

/** Which variants of an index are listed, as a form has it. */
export interface Advertising {
  on: boolean;
  summary: boolean;
  full: boolean;
  stats: boolean;
}

const variants = {
  summary: "summary: every item in a line",
  full: "full: everything, at its whole cost",
  stats: "stats: counts alone",
} as const;

export function AdvertiseBoxes({ of }: { of: Advertising }) {
  return (
    <fieldset>
      <legend>Index</legend>
      <Box name="advertise" label="List these variants for everybody:" checked={of.on} />
      {Object.entries(variants).map(([name, label]) => (
        <Box name={`variant-${name}`} label={label} checked={of[name as keyof typeof variants]} />
      ))}
    </fieldset>
  );
}

export function advertisingIn(form: URLSearchParams): Advertising {
  const is = (name: string) => form.get(name) === "on";
  return {
    on: is("advertise"),
    summary: is("variant-summary"),
    full: is("variant-full"),
    stats: is("variant-stats"),
  };
}

/** As settings have it; the variants stay as they are where nothing is listed. */
export function advertisingOf({ on, ...named }: Advertising): Advertise {
  return { advertiseResources: on, variants: named };
}

/** As a form has it. */
export function shownAdvertising(settings: Advertise | undefined): Advertising {
  const on = settings?.advertiseResources ?? settings?.advertise_resources ?? false;
  const { summary = false, full = false, stats = true } = settings?.variants ?? {};
  return { on, summary, full, stats };
}

/** Where what is there now differs from what was typed. */
export function advertisingRows(now: Advertise | undefined, typed: Advertising): Differing[] {
  const there = shownAdvertising(now);
  const word = (value: boolean) => (value ? "yes" : "no");
  return (["on", "summary", "full", "stats"] as const)
    .filter((name) => there[name] !== typed[name])
    .map((name) => ({
      label: name === "on" ? "Index listed" : `Index: ${name}`,
      now: word(there[name]),
      typed: word(typed[name]),
    }));
}
