import { demoTenant } from "./demo.ts";
import { defaultScope, maxTokenLifetime, mintToken } from "./mint-token.ts";

interface Registry {
  /** Without a slash at the end. */
  url: string;
  secret: string;
  vars: Record<string, string>;
}

interface Welcome {
  /** What stands in brackets behind the address. */
  about: string;
  /** The command that makes other tokens. */
  tokenCommand: string;
  admin: boolean;
}

/** What a person sees once the registry answers: where it is, a token, and three commands that work as they stand. */
export async function welcomeText(registry: Registry, { about, tokenCommand, admin }: Welcome): Promise<string> {
  const { url, secret, vars } = registry;
  const claims = { subject: "you", tenants: [demoTenant], scope: defaultScope, admin, lifetime: maxTokenLifetime };
  const token = await mintToken(secret, vars, claims);
  const until = new Date(Date.now() + maxTokenLifetime * 1_000);
  const rights = `${admin ? "admin, " : ""}tenant ${demoTenant}, read and publish`;
  const steps = (await thingsToTry(url, token)).map(
    ({ title, command }, index) => `# ${index + 1}. ${title}\n${command}\n`,
  );
  return `
Rollcall is running at ${url}   (${about})

In a browser: ${url}
Signed in:    ${url}/sign-in#token=${token}

In another terminal:
  export ROLLCALL_URL=${url}
  export ROLLCALL_TOKEN=${token}

The token: ${rights}, until ${weekday(until)}; ${tokenCommand} makes others.

${steps.join("\n")}
MCP clients: ${url}/mcp · API: ${url}/openapi.json · Guide: README.md and docs/`;
}

/** Such as "Thu 11:44". */
function weekday(time: Date): string {
  const day = time.toLocaleDateString("en", { weekday: "short" });
  return `${day} ${time.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })}`;
}

export interface ThingToTry {
  title: string;
  /** One command for any POSIX shell, with ROLLCALL_URL and ROLLCALL_TOKEN set. Ends its output with a newline. */
  command: string;
}

const authorization = '-H "Authorization: Bearer $ROLLCALL_TOKEN"';
const newline = "-w '\\n'";

/** Each works as it stands: where the demo is missing, a server is published before one is read. */
async function thingsToTry(url: string, token: string): Promise<ThingToTry[]> {
  const find = {
    title: "Find a tool for a task",
    command: `curl -sG $ROLLCALL_URL/api/search ${newline} --data-urlencode "task=will it rain tomorrow" -d limit=3`,
  };
  const read = (name: string) => ({
    title: `See what a server can do`,
    command: `curl -s $ROLLCALL_URL/api/mcp/capabilities/${demoTenant}/${name} ${newline} ${authorization}`,
  });
  const hello = {
    version: "1.0.0",
    tools: [{ name: "say_hello", description: "Says hello.", inputSchema: { type: "object" } }],
  };
  const publish = {
    title: "Publish a server of your own",
    command: [
      `curl -s -X PUT $ROLLCALL_URL/api/mcp/capabilities/${demoTenant}/hello ${newline} ${authorization}`,
      `-d '${JSON.stringify(hello)}'`,
    ].join(" \\\n  "),
  };
  return (await isThere(url, token, "weather")) ? [find, read("weather"), publish] : [publish, read("hello"), find];
}

async function isThere(url: string, token: string, name: string): Promise<boolean> {
  const response = await fetch(`${url}/api/mcp/capabilities/${demoTenant}/${name}`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  await response.body?.cancel();
  return response.ok;
}
