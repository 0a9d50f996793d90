import type { Child } from "hono/jsx";
import type { z } from "zod";
import { server as serverParameters } from "../../http/parameters.ts";
import { type Failure, statusOf } from "../../kernel/failure.ts";
import { Digest } from "../../kernel/names.ts";
import type { PublishResult } from "../../registry/answer-schema.ts";
import { type Api, at } from "../api.ts";
import { Button, Form, keyOf, Refused, tagOf } from "../forms/form.tsx";
import { throwIfLost } from "../forms/lost.ts";
import { redirectWith } from "../forms/notice.ts";
import { ServerFrame } from "../layout/server-frame.tsx";
import { type PageAnswer, page } from "../page.ts";
import { Counts } from "../parts/changes.tsx";
import { Flags } from "../parts/chips.tsx";
import { Digest as DigestShown, number, shortDigest } from "../parts/figures.tsx";
import { serverHref } from "../parts/server-row.tsx";
import { clip, text } from "../parts/text.tsx";
import { type ShownServer, showServer } from "../server.ts";
import type { Viewer } from "../sign-in/viewer.ts";
import { notRetained } from "./difference.tsx";

type Result = z.infer<typeof PublishResult>;

interface Asked {
  server: ShownServer;
  digest: string;
  viewer: Viewer;
  now: number;
}

const addressOf = ({ tenant, name }: ShownServer, digest: string) =>
  at`/api/mcp/capabilities/${tenant}/${name}/revisions/${digest}/restore`;

const restore = page({
  id: "server-restore",
  path: "/servers/{tenant}/{name}/restore",
  parameters: { path: serverParameters, query: { digest: Digest } },
  signedIn: true,

  async get(services, { viewer, path, query: { digest }, now, api }) {
    const server = await showServer(services, viewer.principal, path);
    const asked = { server, digest, viewer, now };
    const rehearsed = await rehearse(api, asked);
    if (rehearsed.ok) return askedPage(asked, <Plan asked={asked} result={rehearsed.value.data} />);
    return refusedPage(asked, rehearsed.error, () => notRetained(services, server, [digest]));
  },

  async post(services, { c, viewer, path, query: { digest }, now, api, form }) {
    const server = await showServer(services, viewer.principal, path);
    const asked = { server, digest, viewer, now };
    const options = { method: "POST", ifMatch: tagOf(form), key: keyOf(form) } as const;
    const done = await api<Result>(addressOf(server, digest), options);
    const history = `${serverHref(server)}/history`;
    if (done.ok) {
      const { outcome, effectiveBy, warnings } = done.value.data;
      const what = `Revision ${shortDigest(digest)} is current again: it is what readers see now.`;
      const words = outcome === "unchanged" ? "Nothing changed: this content is current already." : what;
      return redirectWith({ c, services, viewer }, history, { text: words, effectiveBy, warnings });
    }
    if (done.error.code !== "ErrorPreconditionFailed")
      return refusedPage(asked, done.error, () => notRetained(services, server, [digest]));
    // Somebody published meanwhile: what restoring would do now is another thing, so it is asked again.
    const rehearsed = await rehearse(api, asked);
    if (!rehearsed.ok) return refusedPage(asked, rehearsed.error, () => notRetained(services, server, [digest]));
    const stale = (
      <>
        <div class="refused" role="alert">
          <p>
            <strong>Nothing was restored.</strong> {server.tenant}/{server.name} has changed since you looked: it is at{" "}
            {server.head.digest !== undefined && <DigestShown of={server.head.digest} what="what is current" />} now.
            Below is what restoring would do to that.
          </p>
        </div>
        <Plan asked={asked} result={rehearsed.value.data} />
      </>
    );
    return { ...askedPage(asked, stale), status: 409 };
  },
});

function rehearse(api: Api, { server, digest }: Asked) {
  return api<Result>(addressOf(server, digest), { method: "POST", query: { dryRun: "true" } });
}

function askedPage({ server, now }: Asked, main: Child): PageAnswer {
  return {
    title: `Restore ${server.tenant}/${server.name}`,
    nav: "servers",
    main: (
      <ServerFrame server={server} tab="history" now={now}>
        {main}
      </ServerFrame>
    ),
  };
}

async function refusedPage(asked: Asked, error: Failure, gone: () => Promise<Child>): Promise<PageAnswer> {
  throwIfLost(error);
  const main = error.code === "ErrorRevisionNotFound" ? await gone() : <Refused why={error} />;
  return { ...askedPage(asked, main), status: statusOf(error.code) };
}

/** What restoring would do, and the button that does it. */
function Plan({ asked: { server, digest, viewer }, result }: { asked: Asked; result: Result }) {
  const { outcome, changes, header, cost, kept = [], flags, warnings, emptied } = result;
  const base = serverHref(server);
  const { digest: current } = server.head;
  const moved = cost.after - cost.before;
  return (
    <section class="block" aria-labelledby="plan">
      <h2 id="plan">Restore {shortDigest(digest)}?</h2>
      {outcome === "unchanged" ? (
        <p>This content is current already: restoring it would change nothing.</p>
      ) : (
        <p>A dry run of it. Nothing is changed until you say so; what sources offer stays as it is.</p>
      )}
      <dl class="rows">
        <dt>Changes</dt>
        <dd>
          <Counts of={changes} /> {header !== undefined && <span class="small">and the server's own members</span>}
        </dd>
        <dt>Cost</dt>
        <dd class="num">
          {number(cost.before)} → {number(cost.after)} tokens
          {moved !== 0 && ` (${moved > 0 ? "+" : "−"}${number(Math.abs(moved))})`}
        </dd>
        {kept.length > 0 && (
          <>
            <dt>Stays</dt>
            <dd>
              {kept.slice(0, 20).map(({ kind, name, why }) => (
                <>
                  {kind} <code>{text(clip(name, 80))}</code> ({why}){" "}
                </>
              ))}
            </dd>
          </>
        )}
      </dl>
      {emptied && <p class="warn">Nothing would be left: the server had items, and would have none.</p>}
      {warnings.map((warning) => (
        <p class="small warn">{text(clip(warning, 300))}</p>
      ))}
      <Flags flags={flags} />
      <div class="inline">
        {outcome !== "unchanged" && (
          <Form
            viewer={viewer}
            action={`${base}/restore?digest=${digest}`}
            tag={current === undefined ? undefined : `"${current}"`}
          >
            <Button label="Restore this revision" as="primary" />
          </Form>
        )}
        {current !== undefined && outcome !== "unchanged" && (
          <a href={`${base}/diff?from=${current}&to=${digest}`}>The difference, word by word</a>
        )}
        <a href={`${base}/history`}>Leave it as it is</a>
      </div>
    </section>
  );
}

export const restorePages = [restore];
