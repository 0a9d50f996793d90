import type { Child } from "hono/jsx";
import { shownFlags } from "../../manifest/flag.ts";
import { serverFlags } from "../../registry/record.ts";
import { at } from "../api.ts";
import { Chips, Flags, StatusNote } from "../parts/chips.tsx";
import { Ago, Digest } from "../parts/figures.tsx";
import { type Kind, serverHref, Tile } from "../parts/server-row.tsx";
import { clip, text } from "../parts/text.tsx";
import type { ShownServer } from "../server.ts";

/** Tabs of a server with the kinds that each lists. */
export const sectionTabs = {
  tools: { label: "Tools", kinds: ["tool"] },
  prompts: { label: "Prompts", kinds: ["prompt"] },
  resources: { label: "Resources", kinds: ["resource", "resourceTemplate"] },
  generators: { label: "Generators", kinds: ["generator"] },
  operations: { label: "Operations", kinds: ["operation"] },
} as const satisfies Record<string, { label: string; kinds: readonly Kind[] }>;

export type SectionTab = keyof typeof sectionTabs;
export type ServerTab = "overview" | SectionTab | "connect" | "history";

export function itemsOf({ items }: ShownServer, tab: SectionTab) {
  const { kinds } = sectionTabs[tab];
  return items.filter(({ item }) => (kinds as readonly string[]).includes(item.kind));
}

/** Address of the tab that lists items of this kind. */
export function tabOf(kind: Kind): SectionTab {
  const found = Object.entries(sectionTabs).find(([, { kinds }]) => (kinds as readonly string[]).includes(kind));
  return (found?.[0] ?? "tools") as SectionTab;
}

interface Framed {
  server: ShownServer;
  tab: ServerTab;
  now: number;
  children?: Child;
}

/** The head of a server's pages and its tabs. */
export function ServerFrame({ server, tab, now, children }: Framed) {
  const { tenant, name, title, description, version, head, record, updatedAt } = server;
  const flags = shownFlags(serverFlags(head));
  return (
    <>
      <nav class="crumbs" aria-label="Where you are">
        <a href="/servers">Servers</a> / <a href={`/servers?tenant=${encodeURIComponent(tenant)}`}>{tenant}</a> / {name}
      </nav>
      <div class="masthead">
        <Tile name={name} />
        <div>
          <h1>{name}</h1>
          <p class="sub">
            {title !== undefined && title !== name && <span class="soft">{text(clip(title, 120))}</span>}
            {version !== undefined && <span class="num">{text(clip(version, 40))}</span>}
            <Chips of={record}>
              {record.status === "active" && <span class="chip ok">● active</span>}
              <span class="chip">{head.visibility === "public" ? "public" : "members only"}</span>
            </Chips>
          </p>
          {description !== undefined && <p class="line">{text(clip(description, 600))}</p>}
          <p class="sub">
            {head.digest !== undefined && <Digest of={head.digest} what={`${tenant}/${name}`} />}
            <span>
              changed <Ago at={updatedAt} now={now} />
            </span>
            {head.lastSynced !== undefined && (
              <span>
                read <Ago at={head.lastSynced} now={now} />
              </span>
            )}
          </p>
        </div>
      </div>
      <StatusNote of={record} />
      {flags.length > 0 && <Flags flags={flags} />}
      <nav class="tabs" aria-label={`Pages of ${name}`}>
        <Tab server={server} tab="overview" current={tab} label="Overview" />
        {Object.entries(sectionTabs).map(([section, { label }]) => {
          const count = itemsOf(server, section as SectionTab).length;
          if (count === 0 && section !== tab) return null;
          return <Tab server={server} tab={section as SectionTab} current={tab} label={label} count={count} />;
        })}
        {server.role !== "visitor" && <Tab server={server} tab="history" current={tab} label="History" />}
        <Tab server={server} tab="connect" current={tab} label="Connect" />
        {server.role === "manager" && <a href={at`/manage/${tenant}/servers/${name}`}>Manage</a>}
        <a href={at`/api/catalog/${tenant}/${name}`}>JSON</a>
      </nav>
      {children}
    </>
  );
}

interface TabLink {
  server: ShownServer;
  tab: ServerTab;
  current: ServerTab;
  label: string;
  count?: number;
}

function Tab({ server, tab, current, label, count }: TabLink) {
  const href = tab === "overview" ? serverHref(server) : `${serverHref(server)}/${tab}`;
  return (
    <a href={href} aria-current={tab === current ? "page" : undefined}>
      {label} {count !== undefined && <span class="num">{count}</span>}
    </a>
  );
}
