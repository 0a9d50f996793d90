import { type Claims, type Registry, token } from "../support/registry.ts";

/** A browser at the console: it accepts HTML, keeps the cookie it is given, and says where its requests come from. */
export class Visitor {
  readonly registry: Registry;
  cookie: string | undefined;

  constructor(registry: Registry) {
    this.registry = registry;
  }

  get headers(): Record<string, string> {
    const headers: Record<string, string> = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
    if (this.cookie !== undefined) headers.Cookie = this.cookie;
    return headers;
  }

  get(path: string, headers: Record<string, string> = {}) {
    return this.registry.send("GET", path, { headers: { ...this.headers, ...headers } });
  }

  async post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
    const answer = await this.registry.send("POST", path, {
      headers: {
        ...this.headers,
        "Content-Type": "application/x-www-form-urlencoded",
        "Sec-Fetch-Site": "same-origin",
        ...headers,
      },
      body: new URLSearchParams(fields).toString(),
    });
    const [pair] = (answer.headers.get("Set-Cookie") ?? "").split(";");
    if (pair !== undefined && pair !== "") this.cookie = pair.endsWith("=") ? undefined : pair;
    return answer;
  }

  async signIn(claims: Claims, now?: number) {
    return this.post("/sign-in", { token: await token(claims, now) });
  }
}

/** Text of a page without its frame and request id, which differ in any case. */
export function mainOf(html: string): string {
  return html.slice(html.indexOf("<main"), html.indexOf("</main>")).replaceAll(/[0-9a-f-]{36}/g, "");
}
