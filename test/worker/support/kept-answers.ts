import { type Answer, capabilities, configs, drained, Registry, token, tools } from "./registry.ts";
import { separateCache } from "./stale-kv.ts";

export const tenant = "again";
export const path = capabilities(tenant, "open");

export const member = await token({ sub: "member", tenants: [tenant] });
export const outsider = await token({ sub: "outsider", tenants: ["elsewhere"] });

export let clock = Date.now();
export function pass(milliseconds: number): void {
  clock += milliseconds;
}
const now = () => clock;

/** A public server and a private server. */
export async function seed(): Promise<void> {
  const registry = new Registry({ now });
  for (const [name, visibility] of [
    ["open", "public"],
    ["closed", "tenant"],
  ]) {
    await registry.send("POST", configs, { token: member, body: { tenant, name, visibility } });
    await registry.send("PUT", capabilities(tenant, name ?? ""), { token: member, body: tools("first") });
  }
  await drained(tenant);
}

/** A new isolate: it has kept no answer yet. */
export const isolate = (vars?: Record<string, string>) =>
  new Registry({ now, cache: separateCache(), ...(vars === undefined ? {} : { vars }) });

/** Asks until a kept answer comes: a kept answer carries no request id. */
export async function untilKept(ask: () => Promise<Answer>): Promise<Answer> {
  for (let asked = 0; asked < 5; asked += 1) {
    const answer = await ask();
    if (isKept(answer)) return answer;
  }
  throw new Error("no answer was kept");
}

export const isKept = ({ headers }: Answer) => !headers.has("X-Request-Id");
export const said = ({ headers }: Answer) =>
  Object.fromEntries([...headers].filter(([name]) => !["x-request-id", "content-length"].includes(name)));
