const keys: readonly (readonly [keys: readonly string[], does: string])[] = [
  [["/"], "search"],
  [["g", "h"], "home"],
  [["g", "c"], "servers (catalogue)"],
  [["g", "s"], "search"],
  [["g", "n"], "negotiate"],
  [["g", "l"], "changes (log)"],
  [["j"], "next row"],
  [["k"], "row before"],
  [["o"], "open the row"],
  [["c"], "copy the snippet or the digest"],
  [["["], "tab before"],
  [["]"], "next tab"],
  [["?"], "these keys"],
];

/** Opened by the script. */
export function Keys() {
  return (
    <dialog id="keys" aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <dl class="rows">
        {keys.map(([pressed, does]) => (
          <>
            <dt>
              {pressed.map((key) => (
                <kbd>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}
