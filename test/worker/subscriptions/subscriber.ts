import { expect, vi } from "vitest";
import { type Answer, capabilities, Registry, token, tools } from "../support/registry.ts";
import { Receiver, standInForTheNetwork } from "./receiver.ts";

export const registry = new Registry();
const receivers = standInForTheNetwork();
export const list = "/api/subscriptions";
export const url = "https://receiver.example/in?key=of-its-own";
export let tenant: string;
export let member: string;
export let receiver: Receiver;
let round = 0;

/** Makes a new tenant with its own receiver, so that tests do not see each other. */
export async function newTenant(): Promise<void> {
  tenant = `subscribed-${++round}`;
  member = await token({ tenants: [tenant] });
  receiver = new Receiver();
  receivers.set(tenant, receiver);
}

export const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  registry.send(method, path, { token: member, headers, ...(body === undefined ? {} : { body }) });
export const subscribe = (more: Record<string, unknown> = {}) => send("POST", list, { tenant, url, ...more });
export const one = (id: string) => `${list}/${tenant}/${id}`;
export const show = async (id: string) => (await send("GET", one(id))).body.data;
export const publish = (...names: string[]) => send("PUT", capabilities(tenant, "s"), tools(...names));
export const failureOf = ({ status, body }: Answer) => [status, body.error.code];
export const arrived = (count: number) => vi.waitFor(() => expect(receiver.received).toHaveLength(count));
export const idle = (id: string) => vi.waitFor(async () => expect((await show(id)).pending).toBe(0));
