import type { Child } from "hono/jsx";
import { at } from "../api.ts";

const tabs = { servers: "Servers", flags: "Flags", hooks: "Hooks", subscriptions: "Subscriptions" } as const;
export type ManageTab = keyof typeof tabs;

export function manageHref(tenant: string, tab: ManageTab = "servers"): string {
  return tab === "servers" ? at`/manage/${tenant}` : `${at`/manage/${tenant}`}/${tab}`;
}

interface Framed {
  tenant: string;
  tab: ManageTab;
  /** The one thing of the tab that the page is about, as links to it. */
  crumbs?: Child;
  heading?: Child;
  children?: Child;
}

/** The head of the pages that manage a tenant. */
export function ManageFrame({ tenant, tab, crumbs, heading, children }: Framed) {
  return (
    <>
      <nav class="crumbs" aria-label="Where you are">
        <a href="/manage">Manage</a> / {crumbs === undefined ? tenant : <a href={manageHref(tenant)}>{tenant}</a>}
        {crumbs !== undefined && <> / {crumbs}</>}
      </nav>
      <h1>{heading ?? tenant}</h1>
      <nav class="tabs" aria-label={`Manage ${tenant}`}>
        {Object.entries(tabs).map(([name, label]) => (
          <a href={manageHref(tenant, name as ManageTab)} aria-current={name === tab ? "page" : undefined}>
            {label}
          </a>
        ))}
      </nav>
      {children}
    </>
  );
}
