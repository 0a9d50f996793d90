import { raw } from "hono/html";
import type { Child } from "hono/jsx";
import { isObject } from "../../kernel/json.ts";
import { SchemaTable } from "../schema/schema-table.tsx";
import type { ShownItem } from "../server.ts";
import { Chips, Flags, StatusNote } from "./chips.tsx";
import { Json } from "./code.tsx";
import { Digest, number } from "./figures.tsx";
import { clip, text } from "./text.tsx";

export function itemAnchor(key: string): string {
  return `item-${key}`;
}

export function capabilityHref(tenant: string, id: string): string {
  return `/capabilities/${encodeURIComponent(tenant)}/${encodeURIComponent(id)}`;
}

interface ShownInFull extends ShownItem {
  tenant: string;
  /** All of it, as on its own page; otherwise long parts are cut with a link to that page. */
  whole: boolean;
}

/** One capability, readable: what it is for, what it takes, what the registry knows of it. */
export function Item({ item, record, tenant, whole }: ShownInFull) {
  const { key, kind, declared, id } = item;
  const own = capabilityHref(tenant, id);
  const title = string(declared.title) ?? string(object(declared.annotations).title);
  const description = string(declared.description);
  const heading = <code>{text(whole ? key : clip(key, 160))}</code>;
  return (
    <article class="item" id={itemAnchor(key)} aria-label={key}>
      <header>
        {whole ? (
          <h1>{heading}</h1>
        ) : (
          <h3>
            <a href={own}>{heading}</a>
          </h3>
        )}
        <span class="num">
          {number(item.tokens)} <span class="mute">tokens</span>
        </span>
      </header>
      {title !== undefined && title !== key && <p class="soft">{text(clip(title, 200))}</p>}
      <Chips of={record}>{hints(declared)}</Chips>
      <StatusNote of={record} />
      {description === undefined ? (
        <p class="mute">No description was published.</p>
      ) : (
        <p class="text">
          {text(whole ? description : clip(description, 700))}{" "}
          {!whole && description.length > 700 && <a href={own}>All {number(description.length)} characters</a>}
        </p>
      )}
      <Flags flags={record.flags} />
      <Details item={item} whole={whole} own={own} />
      <p class="sub">
        <Digest of={item.digest} what={key} />
        <span>
          id <code>{text(clip(id, 120))}</code>
        </span>
        {!whole && <a href={own}>{kind === "tool" ? "Definition, formats, JSON" : "Formats, JSON"}</a>}
      </p>
    </article>
  );
}

/** What only one kind has. What cannot be rendered is shown as it is, with the reason. */
function Details({ item, whole, own }: { item: ShownItem["item"]; whole: boolean; own: string }) {
  try {
    // Rendered here and now, so that what it throws is caught; it is HTML already.
    return raw(String(<Parts item={item} whole={whole} own={own} />));
  } catch (error) {
    return (
      <div>
        <p class="warn">
          This item cannot be shown as a table ({error instanceof Error ? error.message : "unknown reason"}). As
          published:
        </p>
        <Json of={item.declared} what={`${item.key} as JSON`} />
      </div>
    );
  }
}

function Parts({ item, whole, own }: { item: ShownItem["item"]; whole: boolean; own: string }) {
  const { declared, key } = item;
  const limits = whole ? { most: 1_000 } : { most: 60, more: own };
  const anchor = itemAnchor(key);
  const { inputSchema, outputSchema, arguments: args, parameters, examples, mimeType, requirements } = declared;
  return (
    <>
      {inputSchema !== undefined && (
        <SchemaTable schema={inputSchema} caption="Parameter" anchor={anchor} {...limits} />
      )}
      {outputSchema !== undefined && (
        <SchemaTable schema={outputSchema} caption="Result" anchor={`${anchor}.result`} {...limits} />
      )}
      {Array.isArray(args) && <Fields of={args} caption="Argument" anchor={anchor} />}
      {Array.isArray(parameters) && <Fields of={parameters} caption="Parameter" anchor={anchor} />}
      <dl class="rows">
        {string(mimeType) !== undefined && <Row name="Type">{text(clip(String(mimeType), 120))}</Row>}
        {isObject(requirements) && <Row name="Needs">{listed(Object.values(requirements).flat())}</Row>}
        {["bestFor", "capabilities", "permissions", "effects", "patterns"].map((member) =>
          Array.isArray(declared[member]) && declared[member].length > 0 ? (
            <Row name={memberWords[member] ?? member}>{listed(declared[member])}</Row>
          ) : null,
        )}
        {string(declared.category) !== undefined && (
          <Row name="Category">{text(clip(String(declared.category), 80))}</Row>
        )}
        {string(declared.provider) !== undefined && (
          <Row name="Provider">{text(clip(String(declared.provider), 80))}</Row>
        )}
      </dl>
      {Array.isArray(examples) && examples.length > 0 && (whole || JSON.stringify(examples).length < 600) && (
        <details>
          <summary class="small">Examples</summary>
          <Json of={examples} what={`examples of ${key}`} />
        </details>
      )}
    </>
  );
}

const memberWords: Record<string, string> = {
  bestFor: "Best for",
  capabilities: "Can",
  permissions: "Permissions",
  effects: "Effects",
  patterns: "Patterns",
};

function Row({ name, children }: { name: string; children?: Child }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function listed(values: readonly unknown[]): Child {
  const words = values.slice(0, 20).map((value) => (typeof value === "string" ? value : JSON.stringify(value)));
  return text(clip(words.join(", "), 600));
}

/** Arguments of a prompt and parameters of a template: a list in place of a schema. */
function Fields({ of, caption, anchor }: { of: readonly unknown[]; caption: string; anchor: string }) {
  const properties: Record<string, unknown> = {};
  const required: string[] = [];
  for (const field of of.slice(0, 200)) {
    if (!isObject(field) || typeof field.name !== "string") continue;
    const { name, description, type = "string" } = field;
    properties[name] = { type, description, enum: field.enum };
    if (field.required === true) required.push(name);
  }
  return <SchemaTable schema={{ properties, required }} caption={caption} anchor={anchor} />;
}

/** Annotations in words. They are the publisher's claims. */
function hints(declared: Record<string, unknown>): Child {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = object(declared.annotations);
  const words = [
    readOnlyHint === true && "reads only",
    readOnlyHint !== true && destructiveHint === true && "may delete",
    readOnlyHint !== true && destructiveHint === false && "only adds",
    idempotentHint === true && "safe to repeat",
    openWorldHint === true && "reaches the outside",
  ];
  return words.filter((word) => typeof word === "string").map((word) => <span class="chip">{word}</span>);
}

function string(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function object(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}
