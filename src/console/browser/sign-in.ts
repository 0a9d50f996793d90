/** Takes a token from the address, where it never reaches a server: `/sign-in#token=…`. A click is still needed. */
export function fillSignIn(): void {
  const form = document.querySelector<HTMLFormElement>("form[data-sign-in]");
  const token = /^#token=([\w.-]+)$/.exec(location.hash)?.[1];
  if (form === null || token === undefined) return;
  history.replaceState(null, "", `${location.pathname}${location.search}`);
  const field = form.querySelector<HTMLInputElement>("#token");
  if (field !== null) field.value = token;
  const note = form.querySelector<HTMLElement>("[data-sign-in-as]");
  if (note !== null) {
    note.textContent = question(token);
    note.hidden = false;
  }
  form.querySelector<HTMLElement>("button")?.focus();
}

/** What the token says of itself: nobody is signed in as somebody else by a link unawares. */
function question(token: string): string {
  try {
    const base64 = (token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/");
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const { sub, tenants, admin } = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
    const whose = admin === true ? "as an admin" : `for ${Array.isArray(tenants) ? tenants.join(", ") : "no tenant"}`;
    return `Sign in as ${String(sub)}, ${whose}?`;
  } catch {
    return "The link brought a token along. Sign in with it?";
  }
}
