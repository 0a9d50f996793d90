import { demoTenant } from "./demo.ts";

export interface ThingToTry {
  title: string;
  /** One command for any POSIX shell. */
  command: string;
}

/** The commands `npm start` suggests. Each works as it stands, so the one that reads names a server that is there. */
export async function thingsToTry(url: string, token: string): Promise<ThingToTry[]> {
  const authorization = `-H 'Authorization: Bearer ${token}'`;
  const list = {
    title: "List the servers",
    command: `curl -s '${url}/api/mcp/configs' \\\n  ${authorization}`,
  };
  const read = (name: string) => ({
    title: `See what ${demoTenant}/${name} can do, with its digest and generation in the headers`,
    command: `curl -si '${url}/api/mcp/capabilities/${demoTenant}/${name}' \\\n  ${authorization}`,
  });
  const hello = {
    version: "1.0.0",
    tools: [{ name: "say_hello", description: "Says hello.", inputSchema: { type: "object" } }],
  };
  const publish = {
    title: "Publish a server of your own",
    command: [
      `curl -s -X PUT '${url}/api/mcp/capabilities/${demoTenant}/hello'`,
      "-H 'Content-Type: application/json'",
      `-d '${JSON.stringify(hello)}'`,
      authorization,
    ].join(" \\\n  "),
  };
  return (await isThere(url, token, "weather")) ? [list, read("weather"), publish] : [list, publish, read("hello")];
}

async function isThere(url: string, token: string, name: string): Promise<boolean> {
  const response = await fetch(`${url}/api/mcp/capabilities/${demoTenant}/${name}`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  await response.body?.cancel();
  return response.ok;
}
