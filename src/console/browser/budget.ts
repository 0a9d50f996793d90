import { fitBudget, verdictText, type Weighed } from "../fit.ts";

/** Marks what fits as the slider moves: the ranking does not depend on the budget, so nothing has to be asked. */
export function followBudget(): void {
  const slider = document.querySelector<HTMLInputElement>("input[type=range][data-budget]");
  const field = document.querySelector<HTMLInputElement>("input[type=number][data-budget]");
  if (slider === null || field === null) return;
  const mark = (from: HTMLInputElement) => {
    const other = from === slider ? field : slider;
    other.value = from.value;
    const url = new URL(location.href);
    if (from.value === "") url.searchParams.delete("budget");
    else url.searchParams.set("budget", from.value);
    history.replaceState(null, "", url);
    for (const form of document.querySelectorAll<HTMLInputElement>("input[type=hidden][name=budget]"))
      form.value = from.value;
    show(from.value === "" ? undefined : Number(from.value));
  };
  slider.oninput = () => mark(slider);
  field.oninput = () => mark(field);
}

function show(budget: number | undefined): void {
  const rows = [...document.querySelectorAll<HTMLElement>("li[data-tokens]")];
  const items = rows.map(
    ({ dataset }): Weighed => ({
      tokens: Number(dataset["tokens"]),
      deprecated: dataset["deprecated"] !== undefined,
      obstacle: dataset["obstacle"],
    }),
  );
  const result = fitBudget(items, budget);
  for (const [place, row] of rows.entries()) {
    const verdict = result.verdicts[place];
    if (verdict === undefined) continue;
    row.classList.toggle("in", verdict.fits);
    row.classList.toggle("out", !verdict.fits);
    const state = row.querySelector(".state");
    if (state !== null) state.textContent = verdict.fits ? "✓ in" : "– out";
    const sum = row.querySelector(".sum-text");
    if (sum !== null) sum.textContent = verdict.fits ? `${verdict.sum} so far` : verdict.why;
  }
  const names = rows.map(({ dataset }) => dataset["name"] ?? "");
  const said = document.querySelector("[data-said]");
  if (said !== null) said.textContent = verdictText(result, names, budget);
}
