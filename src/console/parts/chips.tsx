import type { Child } from "hono/jsx";
import type { z } from "zod";
import type { Flag, RegistryRecord } from "../../registry/record-schema.ts";
import { text } from "./text.tsx";

type ShownFlag = z.infer<typeof Flag>;

/** What the registry knows of an item or a server, beside its text. Colour never stands alone: each has a word and a glyph. */
export function recordChips({ status, stale, pending, flags }: RegistryRecord): Child[] {
  const chips: Child[] = [];
  if (status !== "active")
    chips.push(
      <span class={`chip ${status}`}>
        {statusGlyphs[status]} {status}
      </span>,
    );
  if (stale) chips.push(<span class="chip stale">◌ stale</span>);
  if (pending !== undefined) chips.push(<span class="chip stale">… pending {pending}</span>);
  const open = flags.filter(({ acknowledged }) => acknowledged === undefined);
  const high = open.filter(({ severity }) => severity === "high");
  const low = open.length - high.length;
  if (high.length > 0) chips.push(<span class="chip high">⚑ {high.length} high</span>);
  if (low > 0) chips.push(<span class="chip low">⚐ {low} low</span>);
  if (open.length < flags.length) chips.push(<span class="chip">⚐ {flags.length - open.length} accepted</span>);
  return chips;
}

const statusGlyphs = { active: "●", deprecated: "◐", withdrawn: "–" } as const;

export function Chips({ of, children }: { of: RegistryRecord; children?: Child }) {
  const chips = recordChips(of);
  if (chips.length === 0 && !children) return null;
  return (
    <span class="chips">
      {children}
      {chips}
    </span>
  );
}

/** Each flag with its rule, place and message. The message may quote the publisher. */
export function Flags({ flags }: { flags: readonly ShownFlag[] }) {
  if (flags.length === 0) return null;
  return (
    <ul class="flags" aria-label="Flags">
      {flags.map(({ rule, severity, path, message, acknowledged, of }) => (
        <li class={acknowledged === undefined ? severity : "accepted"}>
          <strong>
            {severity === "high" ? "⚑" : "⚐"} {severity} {rule}
          </strong>{" "}
          {path !== "" && <code>{text(of === "config" ? `config ${path}` : path)}</code>}
          <br />
          {text(message)}
          {acknowledged !== undefined && <span class="mute"> Accepted by {text(acknowledged.by)}.</span>}
        </li>
      ))}
    </ul>
  );
}

/** The publisher's words about a status. */
export function StatusNote({ of: { status, statusMessage } }: { of: RegistryRecord }) {
  if (status === "active") return null;
  return (
    <p class="warn">
      <strong>This is {status}.</strong> {statusMessage !== undefined && text(statusMessage)}
    </p>
  );
}
