import { followBudget } from "./budget.ts";
import { followChanges } from "./changes.ts";
import { followKeys } from "./keys.ts";
import { followSession } from "./session.ts";
import { fillSignIn } from "./sign-in.ts";
import { announce, swapFrom } from "./swap.ts";

/** Everything here is an addition: each page works without it. */

const root = document.documentElement;

document.addEventListener("click", (event) => {
  const target = event.target instanceof Element ? event.target.closest("button") : null;
  if (target === null) return;
  if (target.matches("[data-theme-toggle]")) toggleTheme();
  if (target.matches(".copy")) void copy(target);
});

function toggleTheme(): void {
  const isDark =
    (root.dataset["theme"] ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const theme = isDark ? "light" : "dark";
  root.dataset["theme"] = theme;
  localStorage.setItem("theme", theme);
}

/** The text of the button, or that of the block it belongs to. */
async function copy(button: Element): Promise<void> {
  const text =
    button.getAttribute("data-copy") ?? button.parentElement?.querySelector("pre, textarea")?.textContent ?? "";
  try {
    await navigator.clipboard.writeText(text);
    button.classList.add("done");
    announce("Copied");
    setTimeout(() => button.classList.remove("done"), 1_500);
  } catch {
    announce("The browser did not allow copying");
  }
}

/** Forms whose result appears as one types; the address follows. */
for (const form of document.querySelectorAll<HTMLFormElement>("form[data-live]")) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const id = form.dataset["live"] ?? "";
  form.addEventListener("input", (event) => {
    if (event.target instanceof HTMLInputElement && event.target.matches("[data-budget]")) return;
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const url = new URL(form.action);
      for (const [name, value] of new FormData(form)) if (value !== "") url.searchParams.append(name, String(value));
      // The address is that of the task once it is finished.
      const unfinished = new URL(url);
      unfinished.searchParams.set("prefix", "true");
      if (await swapFrom(unfinished, id)) {
        history.replaceState(null, "", url);
        followBudget();
        announce(document.querySelector(`#${id} [data-said]`)?.textContent ?? "");
      }
    }, 200);
  });
}

/** Boxes that narrow a list which is on the page already. */
for (const box of document.querySelectorAll<HTMLInputElement>("input[data-filter]")) {
  const items = document.querySelectorAll<HTMLElement>(box.dataset["filter"] ?? "");
  box.addEventListener("input", () => {
    const wanted = box.value.trim().toLowerCase();
    let shown = 0;
    for (const item of items) {
      item.hidden = wanted !== "" && !(item.dataset["words"] ?? item.textContent ?? "").toLowerCase().includes(wanted);
      if (!item.hidden) shown += 1;
    }
    announce(`${shown} shown`);
  });
}

/** Counts that go on ticking while somebody looks. */
const ticking = document.querySelector<HTMLElement>("[data-tick]");
if (ticking !== null) {
  setInterval(() => {
    if (!document.hidden) void swapFrom(new URL(location.href), ticking.id);
  }, 15_000);
}

/** A page that says "not available" tries once more by itself. */
const failure = document.querySelector<HTMLElement>("[data-retry]");
if (failure !== null && !sessionStorage.getItem(`retried ${location.href}`)) {
  sessionStorage.setItem(`retried ${location.href}`, "1");
  setTimeout(() => location.reload(), 1_000 * Number(failure.dataset["retry"] ?? 1));
}

// On a narrow screen the current tab may be out of sight.
for (const current of document.querySelectorAll(".top nav [aria-current], .tabs [aria-current]"))
  current.scrollIntoView({ block: "nearest", inline: "center" });

followKeys();
followBudget();
followSession();
followChanges();
fillSignIn();
