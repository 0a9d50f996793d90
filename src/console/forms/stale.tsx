import { clip, text } from "../parts/text.tsx";

/** A setting that somebody else changed, beside what was typed. */
export interface Differing {
  label: string;
  now: string;
  typed: string;
}

/** For a form that another write made stale: nothing was changed, and both states are side by side. */
export function Newer({ rows }: { rows: readonly Differing[] }) {
  return (
    <div class="refused" role="alert">
      <p>
        <strong>Nothing was changed.</strong> Somebody else saved this meanwhile. Below is what is there now beside what
        you typed; the form still has yours.
      </p>
      <table class="newer params">
        <thead>
          <tr>
            <th scope="col">Setting</th>
            <th scope="col">Now</th>
            <th scope="col">You typed</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ label, now, typed }) => (
            <tr>
              <td>{label}</td>
              <td>
                <span class="mute">now </span>
                {now === "" ? <span class="mute">empty</span> : text(clip(now, 300))}
              </td>
              <td>
                <span class="mute">typed </span>
                {typed === "" ? <span class="mute">empty</span> : text(clip(typed, 300))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
