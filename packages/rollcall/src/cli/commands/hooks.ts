import { serverPath } from "../../client/connection.ts";
import { hooks as hooksOf, subscriptions as subscriptionsOf } from "../../client/write.ts";
import type { EventType } from "../../webhooks/index.ts";
import type { Context } from "../context.ts";
import { CliError, UsageError } from "../failure.ts";
import { table } from "../terminal/layout.ts";
import { printable } from "../terminal/printable.ts";
import { confirm } from "../terminal/prompt.ts";
import { changeClasses } from "./changes-text.ts";
import { readDocument } from "./document.ts";
import { hookSender, sendEvent, sequenceNow } from "./hook-event.ts";
import { oneOf, wholeNumber } from "./search.ts";

/** Tenant and id of `TENANT/ID`, or of an id with --tenant. */
function place(context: Context, text: string): [tenant: string, id: string] {
  const full = text.includes("/") ? text : `${context.flags.tenant ?? ""}/${text}`;
  const [tenant = "", id = ""] = full.split("/");
  if (tenant === "" || id === "")
    throw new UsageError(`"${text}" is not TENANT/ID`, { hint: "The list command shows the ids." });
  return [tenant, id];
}

async function asked<T>(context: Context, work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    throw context.signInError(error);
  });
}

function tenantOf(context: Context, given: string | undefined): string {
  const tenant = given ?? context.flags.tenant;
  if (tenant === undefined) throw new UsageError("Name the tenant");
  return tenant;
}

export async function hooksList(context: Context, [tenant]: string[]): Promise<void> {
  const data = await asked(context, hooksOf(context.connection()).list(tenantOf(context, tenant)));
  context.out.json(data);
  if (data.items.length === 0) context.out.print("No hooks.");
  const rows = data.items.map((hook) => [
    `${hook.tenant}/${hook.id}`,
    hook.server,
    hook.enabled ? "on" : "off",
    hook.events.join(","),
    printable(hook.description ?? ""),
  ]);
  context.out.print(...table(rows));
}

export async function hooksAdd(
  context: Context,
  [name = ""]: string[],
  { description, event }: { description?: string; event?: string[] },
): Promise<void> {
  const { tenant, name: server } = serverPath(context.server(name));
  const events = event as EventType[] | undefined;
  const made = await asked(context, hooksOf(context.connection()).add({ tenant, server, description, events }));
  context.out.json(made);
  context.out.print(
    `Hook ${tenant}/${made.id} of ${name}. The secret is shown once:`,
    "",
    `ROLLCALL_HOOK_URL=${made.url}`,
    `ROLLCALL_HOOK_SECRET=${made.secret ?? ""}`,
  );
  context.out.note("", `→ rollcall publish ${name} --hook -- COMMAND`);
}

export async function hooksShow(context: Context, [id = ""]: string[]): Promise<void> {
  const data = await asked(context, hooksOf(context.connection()).show(...place(context, id)));
  context.out.json(data);
  context.out.printJson(data);
}

export async function hooksRotate(
  context: Context,
  [id = ""]: string[],
  { overlap }: { overlap?: string },
): Promise<void> {
  const [tenant, hook] = place(context, id);
  const data = await asked(
    context,
    hooksOf(context.connection()).rotate(tenant, hook, { overlapSeconds: wholeNumber("--overlap", overlap) }),
  );
  context.out.json(data);
  context.out.print(
    "The new secret is shown once; the old one is taken for a while longer:",
    "",
    `ROLLCALL_HOOK_SECRET=${data.secret ?? ""}`,
  );
}

export async function hooksSwitch(context: Context, id: string, enabled: boolean): Promise<void> {
  const data = await asked(context, hooksOf(context.connection()).change(...place(context, id), { enabled }));
  context.out.json(data);
  context.out.print(`Hook ${id} is ${enabled ? "on" : "off"}.`);
}

export async function hooksRemove(context: Context, [id = ""]: string[], { yes }: { yes?: boolean }): Promise<void> {
  await confirm(`Remove the hook ${id}? Its secret stops working at once.`, { yes: yes === true });
  const data = await asked(context, hooksOf(context.connection()).remove(...place(context, id)));
  context.out.json(data);
  context.out.print(`Removed the hook ${id}.`);
}

const eventTypes = ["manifest.published", "manifest.changed", "server.removed", "server.status"];

export async function hooksSend(
  context: Context,
  [file]: string[],
  { type = "manifest.published", status }: { type?: string; status?: string },
): Promise<void> {
  oneOf("--type", type, eventTypes);
  const data: Record<string, unknown> = {};
  if (type === "manifest.published") {
    if (file === undefined) throw new UsageError("Name the file with the manifest");
    data.manifest = readDocument(file).value;
  }
  if (status !== undefined) data.status = status;
  const sender = await hookSender();
  const sequence = sequenceNow(process.env, Date.now());
  const answer = await sendEvent(sender, type as EventType, data, { sequence, signal: context.signal });
  context.out.json(answer);
  context.out.print(
    `${type}: ${printable(String(answer.outcome ?? "sent"))}${answer.generation === undefined ? "" : `, generation ${answer.generation}`}`,
  );
}

export async function subscriptionsList(context: Context, [tenant]: string[]): Promise<void> {
  const data = await asked(context, subscriptionsOf(context.connection()).list(tenantOf(context, tenant)));
  context.out.json(data);
  if (data.items.length === 0) context.out.print("No subscriptions.");
  context.out.print(
    ...table(
      data.items.map((one) => [`${one.tenant}/${one.id}`, one.state, `${one.pending} pending`, printable(one.url)]),
    ),
  );
}

interface SubscribeFlags {
  server?: string[];
  class?: string[];
  description?: string;
}

export async function subscriptionsAdd(
  context: Context,
  [tenant = "", url = ""]: string[],
  flags: SubscribeFlags,
): Promise<void> {
  if (!URL.canParse(url)) throw new UsageError(`"${url}" is not an address`);
  for (const one of flags.class ?? []) oneOf("--class", one, changeClasses);
  const classifications = flags.class as "breaking"[] | undefined;
  const servers = flags.server?.map((one) => one.split("/").at(-1) ?? one);
  const filters = servers || classifications ? { servers, classifications } : undefined;
  const made = await asked(
    context,
    subscriptionsOf(context.connection()).add({ tenant, url, filters, description: flags.description }),
  );
  context.out.json(made);
  context.out.print(
    `Subscription ${tenant}/${made.id}. The secret is shown once:`,
    "",
    `ROLLCALL_WEBHOOK_SECRET=${made.secret}`,
  );
}

export async function subscriptionsShow(context: Context, [id = ""]: string[]): Promise<void> {
  const data = await asked(context, subscriptionsOf(context.connection()).show(...place(context, id)));
  context.out.json(data);
  context.out.printJson(data);
}

export async function subscriptionsTest(context: Context, [id = ""]: string[]): Promise<void> {
  const data = await asked(context, subscriptionsOf(context.connection()).test(...place(context, id)));
  context.out.json(data);
  if (!data.delivered) {
    const why = data.failure ?? (data.status === undefined ? "no answer" : `it answered HTTP ${data.status}`);
    throw new CliError(`The test message was not delivered: ${why}`, {
      where: id,
      hint: `rollcall subscriptions show ${id} has the last attempts.`,
      code: "ErrorNotDelivered",
    });
  }
  context.out.print(`Delivered ${printable(data.message)}: HTTP ${data.status ?? ""}`);
}

export async function subscriptionsRotate(
  context: Context,
  [id = ""]: string[],
  { overlap }: { overlap?: string },
): Promise<void> {
  const [tenant, one] = place(context, id);
  const data = await asked(
    context,
    subscriptionsOf(context.connection()).rotate(tenant, one, { overlapSeconds: wholeNumber("--overlap", overlap) }),
  );
  context.out.json(data);
  context.out.print(
    "The new secret is shown once; messages are signed with both for a while:",
    "",
    `ROLLCALL_WEBHOOK_SECRET=${data.secret}`,
  );
}

export async function subscriptionsSwitch(context: Context, id: string, enabled: boolean): Promise<void> {
  const data = await asked(context, subscriptionsOf(context.connection()).change(...place(context, id), { enabled }));
  context.out.json(data);
  context.out.print(`Subscription ${id} is ${enabled ? "active" : "paused"}.`);
}

export async function subscriptionsRemove(
  context: Context,
  [id = ""]: string[],
  { yes }: { yes?: boolean },
): Promise<void> {
  await confirm(`Remove the subscription ${id}? Nothing more is delivered.`, { yes: yes === true });
  const data = await asked(context, subscriptionsOf(context.connection()).remove(...place(context, id)));
  context.out.json(data);
  context.out.print(`Removed the subscription ${id}.`);
}
