/** Numbers, bars, times and digests. */

export function number(value: number): string {
  return String(value).replaceAll(/\B(?=(\d{3})+$)/g, ",");
}

/** `9.8k` and `1.74 M`: where a column has no room for the whole number. */
export function short(value: number): string {
  if (value < 10_000) return number(value);
  if (value < 1_000_000) return `${(value / 1_000).toFixed(value < 100_000 ? 1 : 0)}k`;
  return `${(value / 1_000_000).toFixed(2)} M`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${number(count)} ${count === 1 ? one : many}`;
}

/** The one graphic of the console: 4 px high and left-aligned, so that a column of them reads as a chart. */
export function Bar({ of, most }: { of: number; most: number }) {
  const width = most <= 0 ? 0 : Math.max(of > 0 ? 1 : 0, Math.round((100 * of) / most));
  return (
    <svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
      <rect width={String(Math.min(100, width))} height="4" />
    </svg>
  );
}

/** The context that shares are shown of: what most models take today. */
export const contextTokens = 200_000;

export function share(tokens: number): string {
  const percent = (100 * tokens) / contextTokens;
  return `${percent >= 10 ? percent.toFixed(0) : percent.toFixed(2)} % of 200k`;
}

const steps: readonly [seconds: number, unit: string][] = [
  [86_400 * 365, "y"],
  [86_400 * 30, "mo"],
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
];

export function ago(iso: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(iso)) / 1_000);
  const step = steps.find(([size]) => seconds >= size);
  return step === undefined ? "just now" : `${Math.floor(seconds / step[0])} ${step[1]} ago`;
}

/** Until a moment, in its largest whole unit: `8 h`, `45 min`. */
export function until(milliseconds: number, now: number): string {
  const minutes = Math.max(0, Math.round((milliseconds - now) / 60_000));
  const [size, unit] = steps.find(([seconds]) => minutes * 60 >= seconds) ?? [60, "min"];
  return `${Math.floor((minutes * 60) / size)} ${unit}`;
}

export function Ago({ at, now }: { at: string; now: number }) {
  if (Number.isNaN(Date.parse(at))) return <>{at.slice(0, 40)}</>;
  return (
    <time datetime={at} title={at.replace("T", " ").replace(/\.\d+Z$/, " UTC")}>
      {ago(at, now)}
    </time>
  );
}

export function shortDigest(digest: string): string {
  return digest.length < 24 ? digest : `${digest.slice(0, 11)}…${digest.slice(-4)}`;
}

export function Digest({ of, what }: { of: string; what: string }) {
  return (
    <span class="digest">
      <code title={of}>{shortDigest(of)}</code>
      <Copy what={`the digest of ${what}`} text={of} />
    </span>
  );
}

/** Shown only where the script runs: without it nothing could be copied. */
export function Copy({ what, text, label }: { what: string; text?: string; label?: string }) {
  return (
    <button type="button" class="copy js-only" data-copy={text} aria-label={`Copy ${what}`}>
      {label ?? <CopyIcon />}
    </button>
  );
}

function CopyIcon() {
  return (
    <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
      <path d="M5.5 5.5v-3h8v8h-3m-8-5h8v8h-8z" fill="none" stroke="currentColor" />
    </svg>
  );
}
