// Runs before the first paint, so that a chosen theme does not flash.
const root = document.documentElement;
root.classList.add("js");
const chosen = localStorage.getItem("theme");
if (chosen === "light" || chosen === "dark") root.dataset["theme"] = chosen;
