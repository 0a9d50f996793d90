/** Shows what changes for the capabilities of a session that was just negotiated, as it happens. */
export function followSession(): void {
  const list = document.querySelector<HTMLElement>("[data-session]");
  const id = list?.dataset["session"];
  if (list === null || id === undefined) return;
  void follow(list, id);
}

async function follow(list: HTMLElement, session: string): Promise<void> {
  const say = (text: string) => {
    const state = document.querySelector("[data-session-state]");
    if (state !== null) state.textContent = text;
  };
  let last = "";
  for (;;) {
    try {
      const headers = { "X-MCP-Session-ID": session, "Last-Event-ID": last };
      const response = await fetch("/console/api/session/changes", { headers });
      if (!response.ok || response.body === null) {
        say("This session has ended, or has nothing to follow.");
        return;
      }
      say("Following: what changes appears here.");
      last = (await read(response.body, list)) || last;
    } catch {
      say("The connection was lost; trying again.");
    }
    await new Promise((resolve) => setTimeout(resolve, 2_000));
  }
}

/** Reads events until the stream ends; returns the id of the last one. */
async function read(body: ReadableStream<Uint8Array<ArrayBuffer>>, list: HTMLElement): Promise<string> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  let last = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return last;
    text += value;
    const events = text.split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event)?.[1];
      last = /^id: (.*)$/m.exec(event)?.[1] ?? last;
      if (data !== undefined && /^event: change$/m.test(event)) add(list, JSON.parse(data) as Change);
    }
  }
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
