import { z } from "zod";
import { requestError } from "../../http/context.ts";
import type { ConsoleDeps } from "../deps.ts";
import { page } from "../page.ts";
import { staticPath } from "../static-files.ts";

async function send({ consoleFiles }: ConsoleDeps, file: string, encodings: string | undefined): Promise<Response> {
  const found = await consoleFiles.find(file, /\bgzip\b/.test(encodings ?? ""));
  if (found === undefined) throw requestError("ErrorNotFound");
  return found;
}

const staticFile = page({
  id: "static-file",
  anyone: true,
  path: `${staticPath}{file}`,
  parameters: { path: { file: z.string() } },
  get: (services, { c, path: { file } }) => send(services, file, c.req.header("Accept-Encoding")),
});

const favicon = page({
  id: "favicon",
  anyone: true,
  path: "/favicon.ico",
  async get(services, { c }) {
    const { "icon.svg": file = "" } = await services.consoleFiles.names();
    const icon = await send(services, file, c.req.header("Accept-Encoding"));
    // Its address names no content, unlike those of the other files.
    icon.headers.set("Cache-Control", "public, max-age=86400");
    return icon;
  },
});

export const filePages = [staticFile, favicon];
