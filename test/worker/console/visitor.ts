import { type Claims, type Registry, token } from "../support/registry.ts";

/** A browser at the console: it accepts HTML, keeps the cookie it is given, and says where its requests come from. */
export class Visitor {
  readonly registry: Registry;
  cookie: string | undefined;
  /** What an answered form says on the next page. */
  notice: string | undefined;

  constructor(registry: Registry) {
    this.registry = registry;
  }

  get headers(): Record<string, string> {
    const headers: Record<string, string> = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
    const kept = [this.cookie, this.notice].filter((pair) => pair !== undefined);
    if (kept.length > 0) headers.Cookie = kept.join("; ");
    return headers;
  }

  async get(path: string, headers: Record<string, string> = {}) {
    const answer = await this.registry.send("GET", path, { headers: { ...this.headers, ...headers } });
    this.#keep(answer.headers, "notice");
    return answer;
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
    this.#keep(answer.headers, "cookie");
    return answer;
  }

  /** A page takes a notice back; the sign-in is kept as forms left it. */
  #keep(headers: Headers, sent: "cookie" | "notice"): void {
    const [pair = ""] = (headers.get("Set-Cookie") ?? "").split(";");
    if (pair === "") return;
    const name = /-notice=/.test(pair) ? "notice" : sent;
    if (name === "notice" && !/-notice=/.test(pair)) return;
    this[name] = pair.endsWith("=") ? undefined : pair;
  }

  async signIn(claims: Claims, now?: number) {
    return this.post("/sign-in", { token: await token(claims, now) });
  }
}

/** Text of a page without its frame and request id, which differ in any case. */
export function mainOf(html: string): string {
  return html.slice(html.indexOf("<main"), html.indexOf("</main>")).replaceAll(/[0-9a-f-]{36}/g, "");
}

/** The fields of the first form that changes something, as a browser would send them. */
export function formIn(html: string, action = ""): Record<string, string> {
  const forms = mainText(html).split("<form ").slice(1);
  const form = forms.find((text) => text.startsWith('method="post"') && text.includes(`action="${action}`)) ?? "";
  const body = form.split("</form>")[0] ?? "";
  return Object.fromEntries(
    Array.from(body.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g), ([, name = "", value = ""]) => [
      name,
      value.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&"),
    ]),
  );
}

function mainText(html: string): string {
  return html.slice(html.indexOf("<main"), html.indexOf("</main>"));
}
