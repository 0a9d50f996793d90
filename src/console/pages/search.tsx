import type { Child } from "hono/jsx";
import { z } from "zod";
import { unwrap } from "../../http/context.ts";
import { flag } from "../../http/parameters.ts";
import { definitionFormats } from "../../manifest/model/definitions.ts";
import { CapabilityKind } from "../../manifest/schema/capability.ts";
import { definitionsOf } from "../../registry/definitions/definitions.ts";
import { obstacleTo } from "../../registry/record.ts";
import type { SearchPage, SearchResult } from "../../search/schema.ts";
import { searchCapabilities } from "../../search/search.ts";
import type { ConsoleDeps } from "../deps.ts";
import { type Fit, fitBudget, verdictText } from "../fit.ts";
import { type PageAnswer, page } from "../page.ts";
import { Chips } from "../parts/chips.tsx";
import { Json } from "../parts/code.tsx";
import { Bar, number, plural } from "../parts/figures.tsx";
import { capabilityHref } from "../parts/item.tsx";
import { kindWords, serverHref } from "../parts/server-row.tsx";
import { clip, marked, text } from "../parts/text.tsx";
import type { Viewer } from "../sign-in/viewer.ts";

const maxTask = 10_240;
/** Every result there is: what fits a budget depends on all of them. */
const maxResults = 100;
const openRows = 50;

type DefinitionFormat = (typeof definitionFormats)[number];

interface Asked {
  task: string;
  budget?: number;
  kinds?: readonly CapabilityKind[];
  definitions?: DefinitionFormat;
  /** Somebody is still typing: the last word may be unfinished. */
  prefix?: boolean;
}

const search = page({
  id: "search",
  path: "/search",
  parameters: {
    query: {
      task: z.string().default(""),
      budget: z.string().default(""),
      kind: z.array(CapabilityKind).max(6).optional(),
      definitions: z.enum(definitionFormats).optional(),
      prefix: flag.default(false),
    },
  },

  async get(services, { viewer, query }) {
    const { task, budget: typed, kind: kinds, definitions, prefix: isTyping } = query;
    const budget = readBudget(typed);
    const problems = {
      task:
        task.length > maxTask
          ? `The task has ${number(task.length)} characters; at most ${number(maxTask)} are read. Say it in a sentence.`
          : undefined,
      budget: budget === "bad" ? "A budget is a whole number of tokens, such as 800." : undefined,
    };
    const isBad = problems.task !== undefined || problems.budget !== undefined;
    // A space after the last word finishes it.
    const prefix = isTyping && task === task.trimEnd();
    const asked = { task: task.trim(), budget: budget === "bad" ? undefined : budget, kinds, definitions, prefix };
    const found = isBad || !/[\p{L}\p{N}]/u.test(task) ? undefined : await find(services, viewer, asked);
    const results =
      found === undefined ? <Hints isBad={isBad} typed={task} /> : await resultsOf(services, viewer, asked, found);
    const json = new URLSearchParams({ task: asked.task, explain: "true", limit: "50" });
    return {
      title: asked.task === "" ? "Search" : `${clip(asked.task, 60)}: search`,
      nav: "search",
      status: isBad ? 422 : 200,
      same:
        asked.task === "" || isBad ? undefined : { json: `/api/search?${json}`, cli: `search ${quoted(asked.task)}` },
      generation: found?.generation,
      source: found && "object",
      fragments: { results: () => results },
      main: (
        <>
          <h1>Search</h1>
          <SearchForm asked={asked} typed={{ task, budget: typed }} problems={problems} />
          <section id="results" aria-label="Results">
            {results}
          </section>
        </>
      ),
    } satisfies PageAnswer;
  },
});

function readBudget(typed: string): number | undefined | "bad" {
  if (typed.trim() === "") return undefined;
  const value = /^\d{1,10}$/.test(typed.trim()) ? Number(typed) : 0;
  return value >= 1 && value <= 1_000_000_000 ? value : "bad";
}

function quoted(task: string): string {
  return `'${task.replaceAll("'", "'\\''")}'`;
}

async function find(services: ConsoleDeps, { principal }: Viewer, { task, kinds, prefix }: Asked): Promise<SearchPage> {
  const page = { limit: maxResults, cursor: undefined };
  return unwrap(await searchCapabilities(services, principal, { text: task, prefix, kinds, explain: true }, page));
}

interface FormShown {
  asked: Asked;
  typed: { task: string; budget: string };
  problems: { task?: string; budget?: string };
}

function SearchForm({ asked, typed, problems }: FormShown) {
  return (
    <search>
      <form action="/search" data-live="results" class="askline">
        <div>
          <label for="task">Task, in plain words</label>
          <input
            id="task"
            name="task"
            value={clip(typed.task, 2_000)}
            autocomplete="off"
            aria-describedby={problems.task && "task-error"}
            aria-invalid={problems.task && "true"}
          />
          {problems.task && (
            <p class="error small" id="task-error">
              {problems.task}
            </p>
          )}
        </div>
        <div>
          <label for="budget">Budget, tokens</label>
          <input
            id="budget"
            name="budget"
            type="number"
            min="1"
            data-budget
            value={typed.budget}
            aria-describedby={problems.budget && "budget-error"}
            aria-invalid={problems.budget && "true"}
          />
          {problems.budget && (
            <p class="error small" id="budget-error">
              {problems.budget}
            </p>
          )}
        </div>
        {asked.kinds?.map((kind) => (
          <input type="hidden" name="kind" value={kind} />
        ))}
        <button type="submit" class="primary">
          Search
        </button>
      </form>
    </search>
  );
}

function Hints({ isBad, typed }: { isBad: boolean; typed: string }) {
  if (isBad) return <p class="mute">Nothing was searched.</p>;
  if (typed.trim() !== "") return <p>A task needs a letter or a digit. Say what is to be done, in plain words.</p>;
  return (
    <div class="block">
      <p>Say what is to be done. A task of several steps is searched step by step; a budget shows what fits.</p>
      <ul class="plain-list">
        {[
          "will it rain tomorrow",
          "send the forecast to my team, then file an issue",
          "find an order of a customer",
        ].map((example) => (
          <li>
            <a href={`/search?task=${encodeURIComponent(example)}&budget=300`}>{example}</a>
          </li>
        ))}
      </ul>
    </div>
  );
}

async function resultsOf(services: ConsoleDeps, viewer: Viewer, asked: Asked, found: SearchPage): Promise<Child> {
  const { items, steps } = found;
  if (items.length === 0) return nothingFound(services, viewer, asked);
  const { budget } = asked;
  const fits = fitBudget(items.map(weighed), budget);
  const all = items.reduce((sum, { tokens }) => sum + tokens, 0);
  const most = Math.max(...items.map(({ tokens }) => tokens));
  const names = items.map(({ name }) => name);
  const chosen = items.filter((_, at) => fits.verdicts[at]?.fits);
  const rows = items.map((item, at) => <Found item={item} rank={at + 1} fits={fits} most={most} steps={steps} />);
  return (
    <>
      <div class="budget">
        <p class="verdict" data-said>
          {verdictText(fits, names, budget)}
        </p>
        <p class="small mute">
          All {number(items.length)} would cost {number(all)} tokens.
        </p>
        <label class="js-only small">
          <span class="vh">Budget in tokens</span>
          <input type="range" data-budget min="1" max={String(all)} value={String(budget ?? all)} />
        </label>
        <CopyAs asked={asked} />
      </div>
      {asked.definitions !== undefined && (await definitionBlock(services, viewer, chosen, asked.definitions))}
      <ol class="ledger">{rows.slice(0, openRows)}</ol>
      {rows.length > openRows && (
        <details>
          <summary>{plural(rows.length - openRows, "more result")}</summary>
          <ol class="ledger">{rows.slice(openRows)}</ol>
        </details>
      )}
    </>
  );
}

function weighed({ tokens, registry }: SearchResult) {
  return { tokens, deprecated: registry.status === "deprecated", obstacle: obstacleTo(registry)?.reason };
}

const formatLabels: Record<DefinitionFormat, string> = {
  mcp: "MCP",
  openai: "OpenAI",
  "openai-chat": "OpenAI chat",
  anthropic: "Anthropic",
};

/** What fits, as the tools of a model. */
function CopyAs({ asked: { task, budget, definitions, kinds } }: { asked: Asked }) {
  return (
    <form action="/search" class="inline">
      <input type="hidden" name="task" value={task} />
      <input type="hidden" name="budget" value={budget === undefined ? "" : String(budget)} />
      {kinds?.map((kind) => (
        <input type="hidden" name="kind" value={kind} />
      ))}
      <label class="vh" for="definitions">
        Definitions for
      </label>
      <select id="definitions" name="definitions">
        {definitionFormats.map((format) => (
          <option value={format} selected={format === definitions}>
            {formatLabels[format]}
          </option>
        ))}
      </select>
      <button type="submit">Definitions</button>
    </form>
  );
}

async function definitionBlock(
  services: ConsoleDeps,
  { principal }: Viewer,
  chosen: readonly SearchResult[],
  format: DefinitionFormat,
): Promise<Child> {
  const { definitions, tokens, leftOut } = await definitionsOf(services, principal, chosen, format);
  return (
    <section class="block" aria-labelledby="definitions-title">
      <h2 id="definitions-title">
        {plural(definitions.length, "definition")} for {formatLabels[format]}{" "}
        <span class="soft num">{number(tokens)} tokens</span>
      </h2>
      <Json of={definitions} what={`the definitions for ${formatLabels[format]}`} />
      {leftOut.length > 0 && (
        <details>
          <summary class="small">{plural(leftOut.length, "result")} not sent</summary>
          <ul class="plain-list small">
            {leftOut.map(({ tenant, server, name, message }) => (
              <li>
                <code>
                  {tenant}/{server} {text(clip(name, 80))}
                </code>{" "}
                {text(message)}
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

interface FoundRow {
  item: SearchResult;
  rank: number;
  fits: Fit;
  most: number;
  steps: number | undefined;
}

function Found({ item, rank, fits, most, steps }: FoundRow) {
  const { tenant, server, name, id, kind, tokens, title, description, registry, highlights, why, alike } = item;
  const verdict = fits.verdicts[rank - 1] ?? { fits: false, why: "" };
  const step = why?.clause === undefined || steps === undefined ? undefined : `step ${why.clause + 1}`;
  const terms = (why?.terms ?? []).slice(0, 5);
  const meaning = why?.meaning === undefined || why.meaning < 0.5 ? undefined : `meaning ${why.meaning.toFixed(2)}`;
  const reasons = [
    step,
    terms.length > 0 ? `words ${terms.join(", ")}` : undefined,
    meaning,
    alike && "nearly the same as one above",
  ];
  const { obstacle, deprecated } = weighed(item);
  return (
    <li
      class={verdict.fits ? "in" : "out"}
      data-tokens={String(tokens)}
      data-name={clip(name, 80)}
      data-obstacle={obstacle}
      data-deprecated={deprecated ? "" : undefined}
    >
      <div class="found">
        <span class="rank">{rank}</span>
        <div>
          <a class="name" href={capabilityHref(tenant, id)}>
            {marked(clip(name, 120), name.length > 120 ? [] : highlights.name)}
          </a>{" "}
          <a class="small mute" href={serverHref({ tenant, name: server })}>
            {tenant}/{server}
          </a>{" "}
          {kind !== "tool" && <span class="small mute">{kindWords[kind][0]}</span>}
          {(description ?? title) !== undefined && (
            <p class="line">
              {description === undefined
                ? text(clip(title ?? "", 220))
                : marked(
                    clip(description, 220),
                    (highlights.description ?? []).filter(([, end]) => end < 210),
                  )}
            </p>
          )}
          <p class="why">
            {text(reasons.filter((reason) => typeof reason === "string").join(" · "))} <Chips of={registry} />
          </p>
        </div>
        <div class="cost">
          <span class="num">{number(tokens)}</span>
          <Bar of={tokens} most={most} />
        </div>
        <p class="sum">
          <span class="state">{verdict.fits ? "✓ in" : "– out"}</span>
          <br />
          <span class="sum-text">{verdict.fits ? `${verdict.sum} so far` : verdict.why}</span>
        </p>
      </div>
    </li>
  );
}

const mostWords = 6;

/** What each word finds by itself. */
async function nothingFound(services: ConsoleDeps, viewer: Viewer, asked: Asked): Promise<Child> {
  const words = [...new Set(asked.task.match(/[\p{L}\p{N}_-]{2,}/gu) ?? [])].slice(0, mostWords);
  const counts = await Promise.all(
    words.map(async (word) => (await find(services, viewer, { ...asked, task: word, prefix: false })).items.length),
  );
  const useful = words.flatMap((word, at) => ((counts[at] ?? 0) > 0 ? [{ word, count: counts[at] ?? 0 }] : []));
  return (
    <div class="block">
      <p data-said>Nothing was found for this task{asked.kinds === undefined ? "" : " among these kinds"}.</p>
      {useful.length > 0 && (
        <ul class="plain-list">
          {useful.map(({ word, count }) => (
            <li>
              <a href={`/search?task=${encodeURIComponent(word)}`}>{word}</a> finds {number(count)}
              {count === maxResults && " or more"}
            </li>
          ))}
        </ul>
      )}
      <p>
        Try fewer or other words, or <a href="/servers">see who is there</a>.
      </p>
    </div>
  );
}

export const searchPages = [search];
