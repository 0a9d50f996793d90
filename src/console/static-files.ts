import { readJson } from "../kernel/read-json.ts";

/** Files of the console by the name that pages use, with the name they are served under: that one has a hash of the content. */
export type FileNames = Readonly<Record<string, string>>;

export const staticPath = "/console/static/";

const types: Record<string, string> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
  woff2: "font/woff2",
};

/**
 * The console's scripts, styles, fonts and icon. The build writes them below `assets/console/` with a list; only what the
 * list names is served, so that the other assets of the deployment stay out of reach.
 */
export class StaticFiles {
  readonly #assets: Pick<Fetcher, "fetch">;
  #names: FileNames | undefined;

  constructor(assets: Pick<Fetcher, "fetch">) {
    this.#assets = assets;
  }

  /** Cached as a value: a promise would belong to the request that created it. */
  async names(): Promise<FileNames> {
    if (this.#names === undefined) {
      const response = await this.#read("files.json");
      const text = await response.text();
      if (!response.ok) throw new Error(`the list of the console's files cannot be read: ${response.status}`);
      this.#names = readJson(text) as FileNames;
    }
    return this.#names;
  }

  /** The file with this served name; undefined if the list does not have it. */
  async find(file: string, acceptsGzip: boolean): Promise<Response | undefined> {
    if (!Object.values(await this.names()).includes(file)) return undefined;
    const type = types[file.slice(file.lastIndexOf(".") + 1)];
    const found = await this.#read(file);
    if (!found.ok || type === undefined) return undefined;
    const headers: Record<string, string> = {
      "Content-Type": type,
      "Cache-Control": "public, max-age=31536000, immutable",
      "X-Content-Type-Options": "nosniff",
      "Cross-Origin-Resource-Policy": "same-origin",
    };
    // The runtime compresses by this header. A font is compressed already.
    if (type !== types.woff2) {
      headers.Vary = "Accept-Encoding";
      if (acceptsGzip) headers["Content-Encoding"] = "gzip";
    }
    return new Response(found.body, { headers });
  }

  #read(file: string): Promise<Response> {
    // Only the path matters: the binding serves nothing but this deployment's own files.
    return this.#assets.fetch(`https://assets.invalid/console/${file}`);
  }
}
