import { spawn } from "node:child_process";
import { serverPath } from "../../client/connection.ts";
import type { Context } from "../context.ts";

/** The address of a page; opened where someone sits at a terminal. */
export async function open(context: Context, [name]: string[]): Promise<void> {
  const { url } = context.target();
  const base = url.replace(/\/+$/, "");
  const address = name === undefined ? `${base}/` : `${base}/servers/${serverPath(context.server(name)).path}`;
  context.out.json({ url: address });
  context.out.print(address);
  if (process.stdout.isTTY !== true || context.out.isJson) return;
  const command = process.platform === "darwin" ? "open" : process.platform === "win32" ? "explorer" : "xdg-open";
  const child = spawn(command, [address], { stdio: "ignore", detached: true });
  child.on("error", () => context.out.note("No browser could be started."));
  child.unref();
}
