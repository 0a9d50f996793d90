import type { Child } from "hono/jsx";
import { Json } from "../parts/code.tsx";
import { plural } from "../parts/figures.tsx";
import { clip, text } from "../parts/text.tsx";
import { type SchemaRow, schemaRows } from "./rows.ts";

const foldedFrom = 60;
/** Rows deeper than this are folded away. */
const openDepth = 2;

interface Shown {
  schema: unknown;
  /** What the schema is of, for people who hear the table. */
  caption: string;
  /** Prefix of the rows' anchors: unique on the page. */
  anchor: string;
  most?: number;
  /** Where the rest is, if this is not all. */
  more?: string;
  /** How descriptions are shown: as text of publishers if absent. */
  describe?: (description: string) => Child;
}

/** A schema as a table: one row a property. */
export function SchemaTable({ schema, caption, anchor, most, more, describe = text }: Shown) {
  const rendered = schemaRows(schema, most);
  if (rendered === undefined) return <Json of={schema} what={caption} />;
  const { rows, cut } = rendered;
  if (rows.length === 0) {
    const isPlain = schema !== null && typeof schema === "object" && Object.keys(schema).length <= 4;
    return isPlain ? <p class="small mute">{caption}: none.</p> : <Json of={schema} what={caption} />;
  }
  const shallow = rows.filter(({ depth }) => depth < openDepth).slice(0, foldedFrom);
  const isFolded = rows.length > foldedFrom || shallow.length < rows.length;
  const first = isFolded ? shallow : rows;
  return (
    <>
      <Table rows={first} caption={caption} anchor={anchor} describe={describe} />
      {isFolded && (
        <details>
          <summary class="small">All {plural(rows.length, "row")}, nested ones included</summary>
          <Table rows={rows} caption={`${caption}, all`} anchor={`${anchor}.all`} describe={describe} />
        </details>
      )}
      {cut && (
        <p class="small mute">
          There are more.{" "}
          {more === undefined ? "The JSON below has them." : <a href={more}>The item's own page has them.</a>}
        </p>
      )}
    </>
  );
}

interface Rows {
  rows: readonly SchemaRow[];
  caption: string;
  anchor: string;
  describe: (description: string) => Child;
}

function Table({ rows, caption, anchor, describe }: Rows) {
  return (
    <table class="params">
      <caption class="vh">{caption}</caption>
      <thead>
        <tr>
          <th scope="col">{caption}</th>
          <th scope="col">Type</th>
          <th scope="col">Meaning</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <Row row={row} anchor={anchor} describe={describe} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ row, anchor, describe }: { row: SchemaRow } & Pick<Rows, "anchor" | "describe">) {
  const { name, depth, required, type, limits, description, path } = row;
  return (
    <tr id={`${anchor}.${path}`}>
      <td class="pname">
        <span class={depth === 0 ? undefined : `d${Math.min(4, depth)}`}>
          <code>{text(clip(name, 60))}</code>
          {required && (
            <span class="req" title="required">
              *<span class="vh"> required</span>
            </span>
          )}
        </span>
      </td>
      <td>
        {text(type)}
        {limits.length > 0 && <span class="mute"> · {text(limits.join(" · "))}</span>}
        {row.default !== undefined && <span class="mute"> · default {text(clip(row.default, 60))}</span>}
      </td>
      <td>{description !== undefined && <span class="desc">{describe(clip(description, 400))}</span>}</td>
    </tr>
  );
}
