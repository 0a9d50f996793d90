/**
 * The one place where text becomes HTML. What it takes comes from a fetch of our own origin, of a page that the server
 * rendered with the same code as a whole page.
 */

interface Policy {
  createHTML(text: string): string;
}
interface Factory {
  createPolicy(name: string, rules: Policy): Policy;
}

const factory = (window as unknown as { trustedTypes?: Factory }).trustedTypes;
const policy = factory?.createPolicy("rollcall", { createHTML: (text) => text });

let latest = 0;

/** Replaces the element with this id by the same element of another state of the page. False if that cannot be had. */
export async function swapFrom(url: URL, id: string): Promise<boolean> {
  if (url.origin !== location.origin) return false;
  latest += 1;
  const mine = latest;
  const response = await fetch(url, { headers: { "Rollcall-Fragment": id, Accept: "text/html" } }).catch(
    () => undefined,
  );
  // Where the sign-in has ended, the answer is another page: it is opened, not put into this one.
  if (response?.redirected === true) location.assign(url);
  if (response === undefined || response.redirected) return false;
  if (!response.headers.get("Content-Type")?.startsWith("text/html")) return false;
  const html = await response.text();
  const old = document.getElementById(id);
  // An answer that a later one has overtaken is of no use.
  if (old === null || mine !== latest) return false;
  old.innerHTML = policy?.createHTML(html) ?? html;
  old.classList.remove("swapped");
  requestAnimationFrame(() => old.classList.add("swapped"));
  return true;
}

/** Says something to people who do not see the page. */
export function announce(text: string): void {
  const place = document.querySelector(".live");
  if (place !== null) place.textContent = text;
}
