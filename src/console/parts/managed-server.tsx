import type { Failure } from "../../kernel/failure.ts";
import type { StoredCapability } from "../../manifest/stored.ts";
import type { Head } from "../../registry/contract.ts";
import type { ServerSettings, SourceDetail } from "../../registry/server-schema.ts";
import { at } from "../api.ts";
import { Button, Field, Form, Refused } from "../forms/form.tsx";
import { Said } from "../forms/said.tsx";
import { Newer } from "../forms/stale.tsx";
import { ManageFrame } from "../layout/manage-frame.tsx";
import type { Notice } from "../page.ts";
import type { Viewer } from "../sign-in/viewer.ts";
import { Chips } from "./chips.tsx";
import { Ago, number, plural } from "./figures.tsx";
import { serverHref } from "./server-row.tsx";
import { differing, type Settings, SettingsFields, settingsShown } from "./server-settings.tsx";
import { sourceWords } from "./source-words.ts";
import { clip, text } from "./text.tsx";

interface Managed {
  settings: ServerSettings;
  tag: string | undefined;
  /** Names the settings that the form shows. */
  was: string;
  items: readonly StoredCapability[];
  disabled: Head["disabled"];
  viewer: Viewer;
  notice: Notice | undefined;
  now: number;
  typed?: Settings;
  refused?: Failure;
  isStale?: true;
  typedName?: string;
}

/** Everything that a manager may change of a server without publishing. */
export function ServerManaged(props: Managed) {
  const { settings, viewer, notice, refused } = props;
  const { tenant, name, registry } = settings;
  const here = at`/manage/${tenant}/servers/${name}`;
  const mayChange = viewer.principal.scopes.includes("registry:publish");
  return (
    <ManageFrame tenant={tenant} tab="servers" crumbs={name} heading={name}>
      <p class="sub">
        <a href={serverHref(settings)}>What readers see</a>
        <a href={`${serverHref(settings)}/history`}>History</a>
        <Chips of={registry} />
        <span class="num">{number(registry.tokens)} tokens</span>
      </p>
      <div class="spaced">
        <Said notice={notice} />
        {refused !== undefined && <Refused why={refused} />}
        {!mayChange && (
          <p class="note">Your sign-in may read. A token with the scope registry:publish may change what is here.</p>
        )}
      </div>
      <div class="manage">
        <SettingsSection {...props} here={here} />
        <div>
          <Sources settings={settings} viewer={viewer} here={here} now={props.now} />
          <Switches {...props} here={here} />
          <Danger {...props} here={here} />
        </div>
      </div>
    </ManageFrame>
  );
}

type Placed = Managed & { here: string };

function SettingsSection({ settings, tag, was, viewer, typed, isStale, here }: Placed) {
  const current = settingsShown(settings);
  return (
    <section class="block settings" aria-labelledby="settings-title">
      <h2 id="settings-title">Settings</h2>
      {isStale && typed !== undefined && <Newer rows={differing(current, typed)} />}
      <Form viewer={viewer} action={here} tag={tag}>
        <input type="hidden" name="do" value="settings" />
        <input type="hidden" name="was" value={was} />
        <SettingsFields of={typed ?? current} />
        <p class="inline">
          <Button label={isStale ? "Save mine over it" : "Save"} as="primary" />
          {isStale && <a href={here}>Keep what is there</a>}
        </p>
      </Form>
    </section>
  );
}

function Sources({ settings, viewer, here, now }: Pick<Placed, "settings" | "viewer" | "here" | "now">) {
  const { sources = [], warnings = [] } = settings.registry;
  return (
    <section class="block" id="sources" aria-labelledby="sources-title">
      <h2 id="sources-title">Sources</h2>
      {sources.length === 0 ? (
        <p class="small mute">None: what the server can do is pushed, and nothing is read.</p>
      ) : (
        <>
          <ul class="ledger">
            {sources.map((source) => (
              <li>
                <Source of={source} now={now} />
              </li>
            ))}
          </ul>
          {warnings.map((warning) => (
            <p class="small warn">{text(clip(warning, 300))}</p>
          ))}
          <Form viewer={viewer} action={here}>
            <input type="hidden" name="do" value="read" />
            <input type="hidden" name="read" value={readMark(settings)} />
            <p>
              <Button label="Read now" />
            </p>
          </Form>
        </>
      )}
    </section>
  );
}

/** Differs after every read of the sources, whatever it found. */
export function readMark({ registry: { lastSynced = "", sources = [] } }: ServerSettings): string {
  return `${lastSynced} ${sources.map(({ failures, lastSynced: at = "" }) => `${failures} ${at}`).join(" ")}`;
}

function Source({ of, now }: { of: SourceDetail; now: number }) {
  const { id, status, url, error, message, failures, lastSynced, since } = of;
  return (
    <>
      <p class="sub">
        <code>{text(clip(id, 80))}</code> <strong>{sourceWords[status] ?? status}</strong>
        <span>
          since <Ago at={since} now={now} />
        </span>
        {lastSynced === undefined ? (
          <span>never read</span>
        ) : (
          <span>
            read <Ago at={lastSynced} now={now} />
          </span>
        )}
      </p>
      {url !== undefined && <p class="small wrap">{text(clip(url, 200))}</p>}
      {(error !== undefined || message !== undefined) && (
        <p class="small error">
          {error !== undefined && <code>{text(clip(error, 200))}</code>}{" "}
          {message !== undefined && text(clip(message, 300))}
          {failures > 0 && ` (${plural(failures, "failure")} in a row)`}
        </p>
      )}
    </>
  );
}

const mostSwitches = 300;

function Switches({ items, disabled, viewer, here }: Placed) {
  const off = new Set(disabled.map(({ kind, key }) => `${kind} ${key}`));
  // What is switched off comes first: with very many items it would be out of sight.
  const ordered = [...items].sort(
    (a, b) => Number(off.has(`${b.kind} ${b.key}`)) - Number(off.has(`${a.kind} ${a.key}`)),
  );
  return (
    <section class="block" id="switches" aria-labelledby="switches-title">
      <h2 id="switches-title">Switches</h2>
      {items.length === 0 ? (
        <p class="small mute">Nothing is published, so there is nothing to switch.</p>
      ) : (
        <>
          <p class="small">
            An item that is switched off is hidden from every reader; its content and history stay. {off.size} of{" "}
            {number(items.length)} are off.
          </p>
          {items.length > 8 && (
            <p class="js-only">
              <label class="vh" for="switch-filter">
                Filter items
              </label>
              <input id="switch-filter" type="search" placeholder="Filter" data-filter=".switches > li" />
            </p>
          )}
          <Form viewer={viewer} action={here}>
            <input type="hidden" name="do" value="switch" />
            <ul class="ledger switches">
              {ordered.slice(0, mostSwitches).map(({ kind, key }) => {
                const isOff = off.has(`${kind} ${key}`);
                return (
                  <li data-words={`${kind} ${key}`}>
                    <span>
                      <code>{text(clip(key, 120))}</code> <span class="small mute">{kind}</span>{" "}
                      {isOff && <span class="chip stale">◌ off</span>}
                    </span>
                    <button type="submit" name="item" value={`${isOff ? "on" : "off"} ${kind} ${key}`}>
                      Switch {isOff ? "on" : "off"}
                      <span class="vh"> {text(clip(key, 120))}</span>
                    </button>
                  </li>
                );
              })}
            </ul>
          </Form>
          {items.length > mostSwitches && (
            <p class="small mute">
              The first {mostSwitches}. Others by name: <code>PATCH /api/mcp/capabilities/…</code>
            </p>
          )}
        </>
      )}
    </section>
  );
}

function Danger({ settings: { tenant, name }, tag, viewer, here, typedName }: Placed) {
  return (
    <section class="block danger-zone" aria-labelledby="danger-title">
      <h2 id="danger-title">Danger zone</h2>
      <p class="small">
        Deleting {tenant}/{name} removes its settings, content, history and hooks. It cannot be undone. To stop offering
        it, withdraw it instead.
      </p>
      <Form viewer={viewer} action={here} tag={tag}>
        <input type="hidden" name="do" value="delete" />
        <Field name="name" label={`Type ${name} to delete it`} value={typedName} required max={128} />
        <p>
          <Button label="Delete the server" as="danger" />
        </p>
      </Form>
    </section>
  );
}
