import type { Child } from "hono/jsx";
import { z } from "zod";
import { RequestFailed } from "../../http/context.ts";
import { server as serverParameters } from "../../http/parameters.ts";
import { isObject } from "../../kernel/json.ts";
import { Digest } from "../../kernel/names.ts";
import { leafDifferences } from "../../manifest/text-difference.ts";
import type { RevisionDiff } from "../../registry/history-schema.ts";
import { at } from "../api.ts";
import type { ConsoleDeps } from "../deps.ts";
import { ServerFrame } from "../layout/server-frame.tsx";
import { page } from "../page.ts";
import { ClassChip } from "../parts/change-class.tsx";
import { changeWords } from "../parts/changes.tsx";
import { Json } from "../parts/code.tsx";
import { Digest as DigestShown, number, plural, shortDigest } from "../parts/figures.tsx";
import { capabilityHref } from "../parts/item.tsx";
import { serverHref } from "../parts/server-row.tsx";
import { SideBySide } from "../parts/side-by-side.tsx";
import { clip, text } from "../parts/text.tsx";
import { type ShownServer, showServer } from "../server.ts";

const difference = page({
  id: "server-diff",
  path: "/servers/{tenant}/{name}/diff",
  parameters: {
    path: serverParameters,
    query: { from: Digest, to: Digest.optional(), shown: z.coerce.number().int().min(1).max(5_000).default(50) },
  },
  signedIn: true,

  async get(services, { viewer, path, query: { from, to, shown }, now, api }) {
    const server = await showServer(services, viewer.principal, path);
    const { tenant, name } = server;
    const address = at`/api/mcp/capabilities/${tenant}/${name}/diff`;
    const found = await api<RevisionDiff>(address, { query: { from, to, include: "items" } });
    const title = `Difference of ${tenant}/${name}`;
    const framed = (main: Child) => (
      <ServerFrame server={server} tab="history" now={now}>
        {main}
      </ServerFrame>
    );
    if (found.ok) {
      const { data, generation } = found.value;
      const query = `?from=${data.from}&to=${data.to}`;
      return {
        ...{ title, nav: "servers", generation, source: "object" },
        same: {
          json: `${address}${query}&include=items`,
          cli: `diff ${tenant}/${name} ${shortDigest(data.from).slice(0, 11)} ${shortDigest(data.to).slice(0, 11)}`,
        },
        main: framed(<Difference of={data} server={server} shown={shown} />),
      };
    }
    if (found.error.code !== "ErrorRevisionNotFound") throw new RequestFailed(found.error);
    const wanted = [from, ...(to === undefined ? [] : [to])];
    return { title, nav: "servers", status: 404, main: framed(await notRetained(services, server, wanted)) };
  },
});

/** Which of the revisions is gone, and how far back the history goes. */
export async function notRetained(services: ConsoleDeps, server: ShownServer, wanted: readonly string[]) {
  const { tenant, name } = server;
  const object = services.tenant(server.key);
  const gone: string[] = [];
  for (const digest of wanted) if ((await object.revision(name, digest)).revision === undefined) gone.push(digest);
  const { revisions } = await object.revisions(name, Number.MAX_SAFE_INTEGER, 1_000);
  const oldest = revisions.at(-1);
  return (
    <section class="block">
      <h2>{gone.length === 1 ? "This revision is not kept" : "These revisions are not kept"}</h2>
      {gone.map((digest) => (
        <p>
          <code class="wrap">{digest}</code>
        </p>
      ))}
      <p>
        It was removed as newer ones came, or {tenant}/{name} never had it.{" "}
        {oldest !== undefined && (
          <>
            The oldest that is kept is revision {oldest.number}, <DigestShown of={oldest.digest} what="the oldest" />.
          </>
        )}
      </p>
      <p>
        <a href={`${serverHref(server)}/history`}>Pick others from the history</a>
      </p>
    </section>
  );
}

interface Shown {
  of: RevisionDiff;
  server: ShownServer;
  /** Changes shown in full. */
  shown: number;
}

function Difference({ of: { from, to, counts, changes }, server, shown }: Shown) {
  const own = changes.filter(({ kind }) => kind === "server").length;
  const items = changes.length - own;
  const here = `${serverHref(server)}/diff`;
  const unchanged = server.items.length - changes.filter(({ kind, to: now }) => kind !== "server" && now).length;
  return (
    <>
      <section class="block" aria-labelledby="verdict">
        <h2 id="verdict">
          {from === to ? "The same revision" : changes.length === 0 ? "Nothing changed" : changeWords(counts)}
        </h2>
        <p class="sub">
          <span>
            from <DigestShown of={from} what="the earlier revision" />
          </span>
          <span>
            to <DigestShown of={to} what="the later revision" />
          </span>
          {from !== to && <a href={`${here}?from=${to}&to=${from}`}>The other way round</a>}
          <a href={`${serverHref(server)}/history`}>All revisions</a>
        </p>
        {changes.length === 0 && <p>Both have the same content, to the byte.</p>}
        {items > 0 && to === server.head.digest && unchanged > 0 && (
          <p class="small mute">{plural(unchanged, "item")} unchanged, not shown.</p>
        )}
      </section>
      <div class="changes">
        {changes.slice(0, shown).map((change, index) => (
          <Change change={change} server={server} index={index} />
        ))}
      </div>
      {changes.length > shown && (
        <p class="pager">
          <span class="mute">
            {number(shown)} of {number(changes.length)} changes
          </span>
          <a href={`${here}?from=${from}&to=${to}&shown=${Math.min(5_000, shown * 4)}`}>Show more</a>
        </p>
      )}
    </>
  );
}

type OneChange = RevisionDiff["changes"][number];
const mostPlaces = 30;

function Change({ change, server, index }: { change: OneChange; server: ShownServer; index: number }) {
  const { kind, name, classification, reasons, before, after } = change;
  const places = isObject(before) && isObject(after) ? leafDifferences(before, after) : [];
  // A reason is told at the place it is about, or above all places.
  const reasonsOf = (path: string) =>
    reasons.filter((reason) => reason.path !== "" && (path === reason.path || path.startsWith(`${reason.path}/`)));
  const placed = new Set(places.slice(0, mostPlaces).flatMap(({ path }) => reasonsOf(path)));
  const current = server.items.find(({ item }) => item.kind === kind && item.key === name);
  return (
    <section class="change" aria-labelledby={`change-${index}`}>
      <h3 id={`change-${index}`}>
        <ClassChip of={classification} /> <span class="soft">{kind === "server" ? "server" : kind}</span>{" "}
        {current === undefined ? (
          <code>{text(clip(name, 200))}</code>
        ) : (
          <a href={capabilityHref(server.tenant, current.item.id)}>
            <code>{text(clip(name, 200))}</code>
          </a>
        )}
      </h3>
      <ul class="reasons">
        {reasons
          .filter((reason) => !placed.has(reason))
          .map((reason) => (
            <li>
              <Reason of={reason} />
            </li>
          ))}
      </ul>
      {places.slice(0, mostPlaces).map(({ path, before: old, after: now }) => (
        <SideBySide path={path === "" ? "/" : path} before={old} after={now}>
          {reasonsOf(path).map((reason) => (
            <Reason of={reason} isPlaced />
          ))}
        </SideBySide>
      ))}
      {places.length > mostPlaces && (
        <p class="small mute">and {plural(places.length - mostPlaces, "more place")} in this item</p>
      )}
      {(before === undefined || after === undefined) && (
        <details>
          <summary>{after === undefined ? "What it was" : "What it is"}</summary>
          <Json of={after ?? before} what={`${kind} ${name}`} />
        </details>
      )}
    </section>
  );
}

function Reason({
  of: { path, classification, message },
  isPlaced,
}: {
  of: OneChange["reasons"][number];
  isPlaced?: true;
}) {
  return (
    <span class="small">
      <ClassChip of={classification} /> {!isPlaced && path !== "" && <code>{text(clip(path, 200))}</code>}{" "}
      {text(clip(message, 300))}
    </span>
  );
}

export const differencePages = [difference];
