import type { Child } from "hono/jsx";
import { Copy } from "./figures.tsx";

/** A text that is made to be copied. */
export function Code({ text, what, lines }: { text: string; what: string; lines?: Child }) {
  return (
    <div class="code">
      {/* A long line scrolls, and must do so by keyboard too. */}
      <section tabindex={0} aria-label={what}>
        <pre>
          <code>{lines ?? text}</code>
        </pre>
      </section>
      <Copy what={what} />
    </div>
  );
}

/** JSON with the kinds of its values marked: what is printed is a value we hold, so no text has to be parsed. */
export function Json({ of, what }: { of: unknown; what: string }) {
  return <Code what={what} text="" lines={printed(of, "")} />;
}

const maxNodes = 4_000;

function printed(value: unknown, indent: string, left = { nodes: maxNodes }): Child {
  left.nodes -= 1;
  if (left.nodes < 0) return JSON.stringify(value);
  if (typeof value === "string") return <span class="js">{JSON.stringify(value)}</span>;
  if (typeof value === "number" || typeof value === "boolean" || value === null)
    return <span class="jn">{String(value)}</span>;
  const inside = `${indent}  `;
  const rows = Array.isArray(value)
    ? value.map((item) => [inside, printed(item, inside, left)])
    : Object.entries(Object(value))
        .filter(([, member]) => member !== undefined)
        .map(([name, member]) => [
          inside,
          <span class="jk">{JSON.stringify(name)}</span>,
          ": ",
          printed(member, inside, left),
        ]);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  if (rows.length === 0) return `${open}${close}`;
  return [`${open}\n`, rows.map((row, at) => [row, at < rows.length - 1 ? ",\n" : "\n"]), `${indent}${close}`];
}
