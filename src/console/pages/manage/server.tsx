import type { z } from "zod";
import { requestError, unwrap } from "../../../http/context.ts";
import { server as serverParameters } from "../../../http/parameters.ts";
import { digestOf } from "../../../kernel/digest.ts";
import { type Failure, failure, statusOf } from "../../../kernel/failure.ts";
import type { SwitchResult } from "../../../registry/answer-schema.ts";
import { readManifest } from "../../../registry/read.ts";
import type {
  ChangedConfigResult,
  DeleteResult,
  RefreshResult,
  ServerSettings,
} from "../../../registry/server-schema.ts";
import { at } from "../../api.ts";
import type { ConsoleDeps } from "../../deps.ts";
import { tagOf } from "../../forms/form.tsx";
import { throwIfLost } from "../../forms/lost.ts";
import { redirectWith } from "../../forms/notice.ts";
import { manageHref } from "../../layout/manage-frame.tsx";
import { type Call, type Notice, page } from "../../page.ts";
import { readMark, ServerManaged } from "../../parts/managed-server.tsx";
import { changeOf, differing, type Settings, settingsIn, settingsShown } from "../../parts/server-settings.tsx";

type Asked = Call<typeof serverParameters, Record<never, never>> & { form: URLSearchParams };

const one = page({
  id: "manage-server",
  path: "/manage/{tenant}/servers/{name}",
  parameters: { path: serverParameters },
  signedIn: true,
  get: (services, call) => shown(services, { ...call, form: new URLSearchParams() }, {}),

  post(services, call) {
    switch (call.form.get("do")) {
      case "settings":
        return saveSettings(services, call);
      case "switch":
        return switchItem(services, call);
      case "read":
        return readNow(services, call);
      case "delete":
        return remove(services, call);
      default:
        throw requestError("ErrorBadRequest", "The form does not say what to do", { hint: "Open the page again" });
    }
  },
});

const addresses = ({ path: { tenant, name } }: Asked) => ({
  config: at`/api/mcp/configs/${tenant}/${name}`,
  capabilities: at`/api/mcp/capabilities/${tenant}/${name}`,
  page: at`/manage/${tenant}/servers/${name}`,
});

interface Outcome {
  typed?: Settings;
  refused?: Failure;
  isStale?: true;
  typedName?: string;
}

async function shown(services: ConsoleDeps, call: Asked, outcome: Outcome) {
  const { viewer, path, now, api, notice } = call;
  const { config } = addresses(call);
  const { data, etag, generation } = unwrap(await api<ServerSettings>(config));
  // Somebody outside the tenant gets the row of a list.
  if (data.registry === undefined || !("disabled" in data.registry)) throw requestError("ErrorTenantPermissionError");
  const { head, manifest } = unwrap(await readManifest(services, viewer.principal, path));
  const { refused, isStale } = outcome;
  return {
    title: `Manage ${data.tenant}/${data.name}`,
    nav: "manage" as const,
    status: refused === undefined ? (isStale ? 409 : 200) : statusOf(refused.code),
    same: { json: config, cli: `show ${data.tenant}/${data.name}` },
    generation,
    source: "object" as const,
    main: (
      <ServerManaged
        settings={data}
        tag={etag}
        was={await fingerprint(data)}
        items={manifest?.capabilities ?? []}
        disabled={head.disabled}
        viewer={viewer}
        notice={notice}
        now={now}
        {...outcome}
      />
    ),
  };
}

/** Of the settings that the form shows: content that was published meanwhile makes no form stale. */
function fingerprint(settings: ServerSettings): Promise<string> {
  return digestOf(settingsShown(settings));
}

function done(services: ConsoleDeps, { c, viewer }: Asked, path: string, notice: Notice): Promise<Response> {
  return redirectWith({ c, services, viewer }, path, notice);
}

/** A form is shown again with its failure; one that the viewer may not send is kept by whoever called. */
function refusedBy(services: ConsoleDeps, call: Asked, error: Failure, outcome: Outcome = {}) {
  throwIfLost(error);
  return shown(services, call, { ...outcome, refused: error });
}

async function saveSettings(services: ConsoleDeps, call: Asked) {
  const { api, form } = call;
  const { config, page: here } = addresses(call);
  const typed = settingsIn(form);
  const send = (ifMatch: string | undefined) =>
    api<z.infer<typeof ChangedConfigResult>>(config, { method: "PATCH", body: changeOf(typed), ifMatch });
  let saved = await send(tagOf(form));
  if (!saved.ok && saved.error.code === "ErrorPreconditionFailed") {
    const { data, etag } = unwrap(await api<ServerSettings>(config));
    if (differing(settingsShown(data), typed).length === 0)
      return done(services, call, here, { text: "The settings were so already." });
    if ((await fingerprint(data)) !== form.get("was")) return shown(services, call, { typed, isStale: true });
    saved = await send(etag);
  }
  if (!saved.ok) return refusedBy(services, call, saved.error, { typed });
  const { changed, effectiveBy, warnings } = saved.value.data;
  const text = changed.length === 0 ? "The settings were so already." : `Saved: ${changed.join(", ")}.`;
  return done(services, call, here, { text, effectiveBy, warnings });
}

async function switchItem(services: ConsoleDeps, call: Asked) {
  const { api, form } = call;
  const { capabilities, page: here } = addresses(call);
  const [word = "", kind = "", ...rest] = (form.get("item") ?? "").split(" ");
  if (word !== "on" && word !== "off") throw requestError("ErrorBadRequest", "An item is switched on or off");
  const item = { kind, name: rest.join(" "), enabled: word === "on" };
  const switched = await api<z.infer<typeof SwitchResult>>(capabilities, { method: "PATCH", body: { items: [item] } });
  if (!switched.ok) return refusedBy(services, call, switched.error);
  const { changed, effectiveBy } = switched.value.data;
  const text = `${item.name} is switched ${item.enabled ? "on" : "off"}${changed ? "" : " already"}.`;
  return done(services, call, `${here}#switches`, { text, effectiveBy });
}

/** A second click finds that the sources were read since the page was made, and does not read them again. */
async function readNow(services: ConsoleDeps, call: Asked) {
  const { api, form } = call;
  const { config, capabilities, page: here } = addresses(call);
  const { data } = unwrap(await api<ServerSettings>(config));
  if (readMark(data) !== form.get("read")) {
    return done(services, call, `${here}#sources`, { text: "The sources were read since you opened the page." });
  }
  const read = await api<RefreshResult>(`${capabilities}/refresh`, { method: "POST" });
  if (!read.ok) return refusedBy(services, call, read.error);
  const { outcome, failures, warnings } = read.value.data;
  const words = { applied: "Read: there was something new.", unchanged: "Read: nothing is new.", failed: "Not read." };
  const reasons = failures.map(({ id, message }) => `${id}: ${message}`);
  return done(services, call, `${here}#sources`, { text: words[outcome], warnings: [...reasons, ...warnings] });
}

async function remove(services: ConsoleDeps, call: Asked) {
  const { api, form, path } = call;
  const typedName = form.get("name") ?? "";
  if (typedName.trim() !== path.name) {
    const hint = "Type the name of the server as it is written above";
    const error = failure("ErrorBadRequest", `The name is ${path.name}; you typed something else`, { hint });
    return refusedBy(services, call, error, { typedName });
  }
  const { config } = addresses(call);
  const deleted = await api<z.infer<typeof DeleteResult>>(config, { method: "DELETE", ifMatch: tagOf(form) });
  const list = manageHref(path.tenant);
  if (deleted.ok) {
    const { effectiveBy } = deleted.value.data;
    return done(services, call, list, { text: `${path.name} and its history are deleted.`, effectiveBy });
  }
  // The second of two clicks.
  if (deleted.error.code === "ErrorMCPServerNotFound")
    return done(services, call, list, { text: `${path.name} is deleted.` });
  return refusedBy(services, call, deleted.error, { typedName });
}

export const manageServerPages = [one];
