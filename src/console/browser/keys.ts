const places: Record<string, string> = { h: "/", c: "/servers", s: "/search", n: "/negotiate", l: "/changes" };

/** Keys of one letter, as listed in the page's dialog. They are off while somebody types. */
export function followKeys(): void {
  let before = "";
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const { key } = event;
    const isSecond = before === "g";
    before = key;
    if (isSecond && places[key] !== undefined) {
      location.assign(places[key]);
    } else if (key === "/") {
      focusSearch();
    } else if (key === "?") {
      document.querySelector<HTMLDialogElement>("#keys")?.showModal();
    } else if (key === "j" || key === "k") {
      move(key === "j" ? 1 : -1);
    } else if (key === "o") {
      document.querySelector<HTMLElement>("li.on a")?.click();
    } else if (key === "c") {
      copyHere();
    } else if (key === "[" || key === "]") {
      tab(key === "]" ? 1 : -1);
    } else return;
    if (key !== "o") event.preventDefault();
  });
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.matches("input:not([type=range], [type=checkbox], [type=radio]), textarea, select");
}

function focusSearch(): void {
  const field = document.querySelector<HTMLInputElement>("input[name=task]");
  if (field === null) location.assign("/search");
  else field.select();
}

/** Rows of the first list of the page. */
function move(by: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>("main .ledger > li, main .index li")].filter(
    (row) => !row.hidden && row.querySelector("a") !== null,
  );
  const at = rows.findIndex((row) => row.classList.contains("on"));
  const next = rows[Math.max(0, Math.min(rows.length - 1, at + by))];
  rows[at]?.classList.remove("on");
  next?.classList.add("on");
  next?.querySelector("a")?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: "nearest" });
}

function copyHere(): void {
  const button =
    document.querySelector<HTMLElement>("main .code .copy") ?? document.querySelector<HTMLElement>("main .copy");
  button?.click();
}

function tab(by: number): void {
  const tabs = [...document.querySelectorAll<HTMLAnchorElement>(".tabs a")];
  const at = tabs.findIndex((link) => link.hasAttribute("aria-current"));
  tabs[at + by]?.click();
}
