import type { Child } from "hono/jsx";
import { type Part, wordDifference } from "../../manifest/text-difference.ts";
import { clip, text } from "./text.tsx";

interface Sides {
  /** JSON pointer of what is shown. */
  path: string;
  before: unknown;
  after: unknown;
  /** Why the change is classified as it is. */
  children?: Child;
}

/** A page may have many of these, and comparing words takes the product of both lengths. */
const mostWords = 600;
const longest = 6_000;

/** Both texts of one place, the words that changed marked: by a line and a sign as well as by colour. */
export function SideBySide({ path, before, after, children }: Sides) {
  const [old, now] = [textOf(before), textOf(after)];
  const parts = old === undefined || now === undefined ? [] : wordDifference(old, now, mostWords);
  return (
    <div class="place">
      <p class="where">
        <code>{text(clip(path, 300))}</code> {children}
      </p>
      <div class="sides">
        <Side of="gone" whole={old} parts={parts} isText={typeof before === "string"} />
        <Side of="new" whole={now} parts={parts} isText={typeof after === "string"} />
      </div>
    </div>
  );
}

interface OneSide {
  of: "gone" | "new";
  whole: string | undefined;
  parts: readonly Part[];
  /** Else JSON, whose columns are worth keeping. */
  isText: boolean;
}

function Side({ of, whole, parts, isText }: OneSide) {
  return (
    <div class={`side ${of}`}>
      <span class="sign" aria-hidden="true">
        {of === "gone" ? "−" : "+"}
      </span>
      <span class="vh">{of === "gone" ? "Before: " : "After: "}</span>
      {whole === undefined ? (
        <span class="mute">absent</span>
      ) : (
        <p dir="auto" class={isText ? undefined : "mono"}>
          {marked(of, whole, parts)}
        </p>
      )}
    </div>
  );
}

function marked(of: "gone" | "new", whole: string, parts: readonly Part[]): Child {
  if (whole === "") return <span class="mute">empty</span>;
  if (parts.length === 0) return text(whole);
  return parts
    .filter(({ kind }) => kind === "same" || kind === of)
    .map(({ kind, text: words }) => {
      if (kind === "same") return text(words);
      return of === "gone" ? <del>{text(words)}</del> : <ins>{text(words)}</ins>;
    });
}

function textOf(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const whole = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return whole.length <= longest ? whole : `${whole.slice(0, longest).toWellFormed()} … (${whole.length} characters)`;
}
