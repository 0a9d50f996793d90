import type { Notice } from "../page.ts";
import { Copy } from "../parts/figures.tsx";
import { clip, text } from "../parts/text.tsx";

/** What a form did, on the page it led to. */
export function Said({ notice }: { notice: Notice | undefined }) {
  if (notice === undefined) return null;
  const { text: said, effectiveBy, secret, warnings = [] } = notice;
  return (
    <div class="note" role="status">
      <p>
        {text(clip(said, 600))}
        {effectiveBy !== undefined && (
          <>
            {" "}
            No data centre shows what was taken away after <time datetime={effectiveBy}>{clock(effectiveBy)}</time>.
          </>
        )}
      </p>
      {warnings.map((warning) => (
        <p class="small">{text(clip(warning, 400))}</p>
      ))}
      {secret !== undefined && (
        <>
          <p>
            <strong>The secret is shown this once.</strong> Copy it now: after a reload it is gone, and only a new one
            can be made.
          </p>
          <p class="secret">
            <code data-secret>{secret}</code> <Copy what="the secret" text={secret} />
          </p>
        </>
      )}
    </div>
  );
}

/** `14:03:20 UTC`. */
function clock(iso: string): string {
  const time = /T(\d\d:\d\d:\d\d)/.exec(iso)?.[1];
  return time === undefined ? iso : `${time} UTC`;
}
