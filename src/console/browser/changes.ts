import { followEvents } from "./events.ts";
import { announce, swapFrom } from "./swap.ts";

/** A burst of writes is shown at once instead of entry by entry. */
const gatherMs = 150;

/**
 * The change feed as it happens. The stream only tells that the log has grown: the server renders the rows, with the
 * filters of the page's address, as it does without the script.
 */
export function followChanges(): void {
  const bar = document.querySelector<HTMLElement>("[data-follow]");
  const state = bar?.querySelector<HTMLElement>("[data-follow-state]");
  const button = bar?.querySelector<HTMLButtonElement>("[data-follow-pause]");
  const url = bar?.dataset["follow"];
  if (!bar || !state || !button || url === undefined) return;

  let isPaused = false;
  let waiting = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** What the connection is like; the words for it depend on whether the page is paused. */
  let connection: "open" | "lost" | "refused" = "lost";

  const say = (text: string, kind: string) => {
    state.textContent = text;
    bar.dataset["state"] = kind;
  };
  const sayFollowing = () => {
    if (connection !== "open") return;
    const count = waiting === 1 ? "1 new entry" : `${waiting} new entries`;
    if (isPaused) say(waiting === 0 ? "Paused." : `Paused: ${count} since.`, "paused");
    else say("Following: what is published appears here.", "open");
  };
  const show = () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const before = newest();
      if (!(await swapFrom(new URL(location.href), "feed"))) return;
      waiting = 0;
      const rows = fresh(before);
      for (const row of rows) row.classList.add("new");
      if (rows.length > 0) announce(rows.length === 1 ? "1 new change" : `${rows.length} new changes`);
    }, gatherMs);
  };

  button.addEventListener("click", () => {
    isPaused = !isPaused;
    button.textContent = isPaused ? "Go on" : "Pause";
    if (!isPaused && waiting > 0) show();
    sayFollowing();
  });

  void followEvents({
    url,
    last: bar.dataset["since"],
    onOpen: () => {
      connection = "open";
      sayFollowing();
    },
    onLost: () => {
      connection = "lost";
      say("The connection was lost. Trying again …", "lost");
    },
    onRefused: (status) => {
      connection = "refused";
      const [words, again] = refusals[status] ?? ["The registry does not answer right now. Trying again …", 5_000];
      say(words, "lost");
      return again;
    },
    onEvent: ({ name }) => {
      if (name !== "change") return;
      waiting += 1;
      if (isPaused) sayFollowing();
      else show();
    },
  });
}

const ended = "Your sign-in has ended. Load the page again to sign in.";
const refusals: Record<number, [words: string, againAfterMs: number | undefined]> = {
  // A redirect that is not followed has no status.
  0: [ended, undefined],
  400: ["The log is another one than this page shows. Load the page again.", undefined],
  401: [ended, undefined],
  403: ["Your sign-in no longer acts for this tenant.", undefined],
  429: ["Too many pages of yours follow changes. Close one; this one tries again …", 15_000],
};

function rowsShown(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>("#feed [data-sequence]")];
}

function newest(): number {
  return Math.max(0, ...rowsShown().map(({ dataset }) => Number(dataset["sequence"])));
}

function fresh(before: number): HTMLElement[] {
  return rowsShown().filter(({ dataset }) => Number(dataset["sequence"]) > before);
}
