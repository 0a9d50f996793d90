import { scopes } from "../../auth/principal.ts";
import { page } from "../page.ts";
import { until } from "../parts/figures.tsx";

const allows: Record<(typeof scopes)[number], string> = {
  "registry:read": "reads the servers of its tenants, searches them, negotiates with them",
  "registry:publish": "publishes, changes and deletes servers, hooks and subscriptions of its tenants",
};

const me = page({
  id: "me",
  path: "/me",
  signedIn: true,

  get(_, { viewer: { principal }, now }) {
    const end = principal.expiresAt * 1_000;
    return {
      title: "You",
      same: { json: "/api/whoami", cli: "whoami" },
      main: (
        <article class="prose">
          <h1>{principal.subject}</h1>
          <p>
            Signed in until <time datetime={new Date(end).toISOString()}>{until(end, now)}</time> from now. The cookie
            counts for these pages only: the API takes tokens.
          </p>
          <h2>Tenants</h2>
          {principal.admin && <p>Admin: a member of every tenant.</p>}
          {principal.tenants.length === 0 && !principal.admin && (
            <p>None. You see what everybody sees; a token that names a tenant shows more.</p>
          )}
          <ul class="plain-list">
            {principal.tenants.map((tenant) => (
              <li>
                <a href={`/servers?tenant=${tenant}`}>
                  <code>{tenant}</code>
                </a>
              </li>
            ))}
          </ul>
          <h2>Scopes</h2>
          <dl class="rows">
            {scopes.map((scope) => (
              <>
                <dt>
                  <code>{scope}</code>
                </dt>
                <dd>{principal.scopes.includes(scope) ? allows[scope] : "not held by this token"}</dd>
              </>
            ))}
          </dl>
        </article>
      ),
    };
  },
});

export const mePages = [me];
