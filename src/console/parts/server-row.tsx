import type { CatalogueItem } from "../catalogue.ts";
import { Chips } from "./chips.tsx";
import { Ago, Bar, number } from "./figures.tsx";
import { clip, text } from "./text.tsx";

export const kindWords = {
  tool: ["tool", "tools"],
  prompt: ["prompt", "prompts"],
  resource: ["resource", "resources"],
  resourceTemplate: ["template", "templates"],
  generator: ["generator", "generators"],
  operation: ["operation", "operations"],
} as const;

export type Kind = keyof typeof kindWords;

export function countWords(counts: Partial<Record<Kind, number>> = {}): string {
  const words = Object.entries(kindWords).flatMap(([kind, [one, many]]) => {
    const count = counts[kind as Kind] ?? 0;
    return count === 0 ? [] : [`${number(count)} ${count === 1 ? one : many}`];
  });
  return words.join(", ") || "nothing yet";
}

export function serverHref({ tenant, name }: { tenant: string; name: string }): string {
  return `/servers/${encodeURIComponent(tenant)}/${encodeURIComponent(name)}`;
}

/** A server in a list. `most` is the cost of the dearest one there. */
export function ServerRow({ server, most, now }: { server: CatalogueItem; most: number; now: number }) {
  const { tenant, name, title, description, counts, tokens = 0, updatedAt, registry, visibility, version } = server;
  const label = title !== undefined && title !== name ? title : undefined;
  return (
    <li>
      <div class="row">
        <div>
          <a class="name" href={serverHref(server)}>
            <span class="owner">{tenant}/</span>
            {name}
          </a>{" "}
          {label !== undefined && <span class="small soft">{text(clip(label, 80))}</span>}
          {description !== undefined && <p class="line">{text(clip(description, 160))}</p>}
          <p class="small mute">
            {countWords(counts)}
            {version !== undefined && <> · {text(clip(version, 24))}</>}
            {visibility === "tenant" && " · members only"}
          </p>
          {registry !== undefined && <Chips of={registry} />}
        </div>
        <div class="cost">
          <span class="num">
            <span>{number(tokens)}</span>
            <span class="mute">tokens</span>
          </span>
          <Bar of={tokens} most={most} />
        </div>
        <p class="when">{updatedAt !== undefined && <Ago at={updatedAt} now={now} />}</p>
      </div>
    </li>
  );
}

/** A tile drawn from the name: icons of publishers are images of elsewhere, and nothing of elsewhere is loaded. */
export function Tile({ name }: { name: string }) {
  const letters = name
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== "")
    .slice(0, 2)
    .map((word) => word.charAt(0).toUpperCase())
    .join("");
  return (
    <svg class="tile" viewBox="0 0 48 48" width="48" height="48" aria-hidden="true">
      <text x="24" y="30" text-anchor="middle" font-size="18">
        {letters || "?"}
      </text>
    </svg>
  );
}
