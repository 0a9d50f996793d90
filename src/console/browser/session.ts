import { followEvents } from "./events.ts";

/** Shows what changes for the capabilities of a session that was just negotiated, as it happens. */
export function followSession(): void {
  const list = document.querySelector<HTMLElement>("[data-session]");
  const id = list?.dataset["session"];
  if (list === null || id === undefined) return;
  const say = (text: string) => {
    const state = document.querySelector("[data-session-state]");
    if (state !== null) state.textContent = text;
  };
  void followEvents({
    url: "/console/api/session/changes",
    headers: { "X-MCP-Session-ID": id },
    onOpen: () => say("Following: what changes appears here."),
    onLost: () => say("The connection was lost; trying again."),
    onRefused: () => {
      say("This session has ended, or has nothing to follow.");
      return undefined;
    },
    onEvent: ({ name, data }) => {
      if (name === "change") add(list, JSON.parse(data) as Change);
    },
  });
}

interface Change {
  tenant: string;
  server: string;
  kind?: string;
  name?: string;
  classification: string;
  generation: number;
}

function add(list: HTMLElement, { tenant, server, name, classification, generation }: Change): void {
  const row = document.createElement("li");
  row.textContent = `${tenant}/${server} ${name ?? ""} ${classification}, generation ${generation}`;
  list.prepend(row);
}
