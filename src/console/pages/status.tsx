import type { Child } from "hono/jsx";
import type { z } from "zod";
import { maxStreams } from "../../changes/streams.ts";
import { unwrap } from "../../http/context.ts";
import { readJson } from "../../kernel/read-json.ts";
import { compatibilityDate, version } from "../../kernel/version.ts";
import type { Health, MetricsSnapshot, ServerCard, Whoami } from "../../service/schema.ts";
import type { ConsoleDeps } from "../deps.ts";
import { page } from "../page.ts";
import { Ago, Bar, number, plural, short } from "../parts/figures.tsx";
import { text } from "../parts/text.tsx";

type Metrics = z.infer<typeof MetricsSnapshot>;

const status = page({
  id: "status",
  path: "/status",

  async get(services, { api, dispatch, viewer, now, c }) {
    const health = unwrap(await api<z.infer<typeof Health>>("/healthz")).data;
    const { features } = unwrap(await api<z.infer<typeof Whoami>>("/api/whoami")).data.registry;
    const answer = await dispatch(new Request(new URL("/mcp/server-card", c.req.url)));
    const card = readJson(await answer.text()) as z.infer<typeof ServerCard>;
    const metrics = viewer.principal.admin ? unwrap(await api<Metrics>("/api/metrics")).data : undefined;
    const { since } = services.metrics.snapshot(now);
    return {
      title: "Status",
      same: { json: metrics === undefined ? "/healthz" : "/api/metrics", cli: "doctor" },
      main: (
        <>
          <h1>Status</h1>
          <p class="sub">
            {health.status === "ok" ? (
              <span class="chip ok">● answers</span>
            ) : (
              <span class="chip breaking">▲ degraded</span>
            )}
            <span>
              This part of the registry started <Ago at={since} now={now} />.
            </span>
          </p>
          {(health.problems ?? []).map(({ message, at }) => (
            <p class="warn">
              {text(message)}. <Ago at={at} now={now} />
            </p>
          ))}
          <div class="status">
            <Versions card={card} />
            <Layers health={health} features={features} />
            <Limits of={services.config} />
          </div>
          <Features of={features} />
          {metrics === undefined ? (
            <p class="small mute">Counts and latency are shown to admins.</p>
          ) : (
            <Counts of={metrics} />
          )}
        </>
      ),
    };
  },
});

function Section({ title, children }: { title: string; children?: Child }) {
  return (
    <section class="block">
      <h2 class="label">{title}</h2>
      <dl class="rows">{children}</dl>
    </section>
  );
}

function Row({ name, children }: { name: string; children?: Child }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Versions({ card }: { card: z.infer<typeof ServerCard> }) {
  const revisions = card.remotes.flatMap(({ supportedProtocolVersions }) => supportedProtocolVersions);
  return (
    <Section title="Versions">
      <Row name="Rollcall">{version}</Row>
      <Row name="MCP">{revisions.join(", ")}</Row>
      <Row name="Official registry API">v0.1</Row>
      <Row name="Platform">{compatibilityDate}</Row>
    </Section>
  );
}

/** Where answers come from, from the fastest on. */
function Layers({ health, features }: { health: z.infer<typeof Health>; features: Record<string, boolean> }) {
  const { state, ageMs } = health.directory;
  return (
    <Section title="Layers">
      <Row name="Memory">answers that were given before, while nothing has changed</Row>
      <Row name="Copy of what is public">
        {state === null ? (
          "none yet: the directory answers"
        ) : (
          <>
            <code>{state}</code>
            {ageMs !== null && `, confirmed ${plural(Math.round(ageMs / 1_000), "second")} ago`}
          </>
        )}
      </Row>
      <Row name="Platform's cache">{features.platform_cache ? "on" : "none here"}</Row>
      <Row name="KV, then objects">what no layer above has; writes always</Row>
    </Section>
  );
}

function Limits({ of: config }: { of: ConsoleDeps["config"] }) {
  const { readLimit, writeLimit, searchLimit, negotiateLimit, anonymousNegotiateLimit, workLimit, bounds } = config;
  const pace = ({ rate, burst }: { rate: number; burst: number }) =>
    `${number(rate)} a second, ${number(burst)} at once`;
  return (
    <Section title="Limits of one caller">
      <Row name="Reads">{pace(readLimit)}</Row>
      <Row name="Writes">{pace(writeLimit)}</Row>
      <Row name="Searches">{pace(searchLimit)}</Row>
      <Row name="Negotiations">{pace(negotiateLimit)}</Row>
      <Row name="Without a token">
        {number(anonymousNegotiateLimit.network.burst)} a minute from one network,{" "}
        {number(anonymousNegotiateLimit.anHour)} an hour from all
      </Row>
      <Row name="Sent to be published">
        {bytes(workLimit.bytes.burst)} and {number(workLimit.items.burst)} items a minute
      </Row>
      <Row name="Streams">{maxStreams} at a time</Row>
      <Row name="Manifest">
        {bytes(bounds.manifestBytes)}, {number(bounds.capabilities)} capabilities of {bytes(bounds.capabilityBytes)}
      </Row>
      <Row name="Import">{bytes(bounds.importBytes)}</Row>
      <Row name="History">
        {number(bounds.revisions)} revisions a server, {number(bounds.changes)} entries of the log
      </Row>
    </Section>
  );
}

function Features({ of }: { of: Record<string, boolean> }) {
  return (
    <section class="block">
      <h2 class="label">Switched on</h2>
      <p class="chips">
        {Object.entries(of).map(([name, isOn]) => (
          <span class={isOn ? "chip ok" : "chip"}>
            {isOn ? "●" : "○ not"} {name.replaceAll("_", " ")}
          </span>
        ))}
      </p>
    </section>
  );
}

function bytes(count: number): string {
  return count >= 1024 * 1024 ? `${number(count / 1024 / 1024)} MiB` : `${number(Math.round(count / 1024))} KiB`;
}

function Counts({
  of: { routes, operations, memory, responseCache, admission, latencyEdgesMs, since, bounds },
}: {
  of: Metrics;
}) {
  const rows = Object.entries(routes).sort(([, a], [, b]) => b.requests - a.requests);
  const sources = new Map<string, number>();
  for (const [, route] of rows)
    for (const [source, count] of Object.entries(route.sources))
      sources.set(source, (sources.get(source) ?? 0) + count);
  const all = responseCache.hits + responseCache.misses;
  return (
    <>
      <h2 class="spaced">Metrics</h2>
      <p class="small mute">
        Counts of this isolate since {since.replace("T", " ").slice(0, 19)} UTC; others have counts of their own.
      </p>
      <div class="status spaced">
        <Bars title="Answers by layer" of={[...sources]} />
        <Bars title="Touched" of={Object.entries(operations)} />
        <Bars title="Memory, bytes" of={Object.entries(memory.caches).map(([name, cache]) => [name, cache.bytes])} />
        <Section title="Others">
          <Row name="Sent again from memory">
            {number(responseCache.hits)} of {number(all)}
          </Row>
          <Row name="Memory in all">
            {bytes(memory.bytes)} of {bytes(memory.capacity)}
          </Row>
          <Row name="Costly requests">
            {number(admission.admitted)} served, {number(admission.waited)} waited, {number(admission.refused)} refused
          </Row>
          {bounds.map(({ bound, tenant, times }) => (
            <Row name={`Bound ${bound}`}>
              met {plural(times, "time")} {tenant !== undefined && <>by {text(tenant)}</>}
            </Row>
          ))}
        </Section>
      </div>
      <Routes rows={rows} edges={latencyEdgesMs} />
    </>
  );
}

function Bars({ title, of }: { title: string; of: readonly (readonly [string, number])[] }) {
  const shown = of.filter(([, count]) => count > 0).sort(([, a], [, b]) => b - a);
  const most = Math.max(0, ...shown.map(([, count]) => count));
  return (
    <section class="block">
      <h2 class="label">{title}</h2>
      {shown.length === 0 && <p class="small mute">Nothing yet.</p>}
      <div class="costs">
        {shown.map(([name, count]) => (
          <>
            <span>{name}</span>
            <span class="num">{short(count)}</span>
            <Bar of={count} most={most} />
          </>
        ))}
      </div>
    </section>
  );
}

function Routes({ rows, edges }: { rows: [string, Metrics["routes"][string]][]; edges: readonly number[] }) {
  return (
    <table class="routes">
      <caption class="vh">Requests by operation</caption>
      <thead>
        <tr>
          <th scope="col">Operation</th>
          <th scope="col">Requests</th>
          <th scope="col">Refused</th>
          <th scope="col">Failed</th>
          <th scope="col">Half within</th>
          <th scope="col">95 % within</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, { requests, statuses, latency }]) => {
          const answered = (first: string) =>
            Object.entries(statuses).reduce((sum, [code, count]) => sum + (code.startsWith(first) ? count : 0), 0);
          return (
            <tr>
              <td>
                <code>{name}</code>
              </td>
              <td class="num">{number(requests)}</td>
              <td class="num">{number(answered("4"))}</td>
              <td class="num">{number(answered("5"))}</td>
              <td class="num">{within(latency, edges, 0.5)}</td>
              <td class="num">{within(latency, edges, 0.95)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** The bucket that a share of the requests does not exceed. */
export function within(latency: readonly number[], edges: readonly number[], share: number): string {
  const all = latency.reduce((sum, count) => sum + count, 0);
  let seen = 0;
  for (const [at, count] of latency.entries()) {
    seen += count;
    if (seen >= share * all) return at < edges.length ? `${edges[at]} ms` : `over ${edges.at(-1)} ms`;
  }
  return "–";
}

export const statusPages = [status];
