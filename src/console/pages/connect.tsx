import { z } from "zod";
import { isMember } from "../../auth/principal.ts";
import { type ClientId, clientIds, clients } from "../../connect/clients.ts";
import { connectForm, type Form } from "../../connect/forms.ts";
import type { ConnectInput, ConnectTarget } from "../../connect/target.ts";
import { type Way, waysToConnect } from "../../connect/ways.ts";
import { server as serverParameters } from "../../http/parameters.ts";
import { tenantKey } from "../../kernel/names.ts";
import { ServerFrame } from "../layout/server-frame.tsx";
import { page } from "../page.ts";
import { Code } from "../parts/code.tsx";
import { serverHref } from "../parts/server-row.tsx";
import { clip, text } from "../parts/text.tsx";
import { type ShownServer, showServer } from "../server.ts";

const connect = page({
  id: "connect",
  path: "/servers/{tenant}/{name}/connect",
  parameters: {
    path: serverParameters,
    query: { client: z.enum(clientIds).default("claude-code"), way: z.string().max(40).optional() },
  },

  async get(services, { viewer, path, query: { client, way: wanted }, now, c }) {
    const server = await showServer(services, viewer.principal, path);
    const { tenant, name } = server;
    const ways = waysOf(server, isMember(viewer.principal, tenantKey(tenant)));
    const way = ways.find(({ id }) => id === wanted) ?? ways.find(({ target }) => target !== undefined) ?? ways[0];
    const given = new URL(c.req.url).searchParams;
    const answers = { values: valuesIn(given), include: given.getAll("include").slice(0, 50) };
    return {
      title: `Connect ${tenant}/${name}`,
      nav: "servers",
      same: { json: `/api/catalog/${tenant}/${name}`, cli: `config ${client} ${tenant}/${name}` },
      generation: server.head.asOf,
      main: (
        <ServerFrame server={server} tab="connect" now={now}>
          <Warning server={server} />
          {way === undefined ? (
            <p>
              {tenant}/{name} was published without an address. Ask {tenant} where it runs; once its manifest has{" "}
              <code>remotes</code> or <code>packages</code>, this page has the snippets.
            </p>
          ) : (
            <>
              <Ways ways={ways} chosen={way} server={server} client={client} />
              <ClientTabs server={server} way={way} client={client} given={given} />
              {way.target === undefined ? (
                <Unusable way={way} />
              ) : (
                <div class="aside">
                  <Shown form={connectForm(client, way.target, { answers })} />
                  <Inputs target={way.target} way={way} client={client} given={given} />
                </div>
              )}
            </>
          )}
        </ServerFrame>
      ),
    };
  },
});

/** Addresses that the manifest declares; members also see the sources that the registry reads. */
function waysOf({ tenant, name, header, sources }: ShownServer, forMember: boolean): Way[] {
  const list = (value: unknown) => (Array.isArray(value) ? value.slice(0, 20) : undefined);
  const declared = waysToConnect({
    name: `${tenant}/${name}`,
    remotes: list(header.remotes),
    packages: list(header.packages),
  });
  if (declared.length > 0 || !forMember) return declared;
  const remotes = sources.filter(({ url }) => url !== undefined).map(({ type, url }) => ({ type, url }));
  return waysToConnect({ name: `${tenant}/${name}`, remotes });
}

const valuePrefix = "in.";

function valuesIn(given: URLSearchParams): Record<string, string> {
  const values: Record<string, string> = {};
  for (const [name, value] of given)
    if (name.startsWith(valuePrefix) && value !== "") values[name.slice(valuePrefix.length)] = value.slice(0, 2_000);
  return values;
}

/** Connecting gives a model what the server says: what is flagged or withdrawn is said first. */
function Warning({ server: { record, items } }: { server: ShownServer }) {
  const isHigh = ({ severity, acknowledged }: { severity: string; acknowledged?: unknown }) =>
    severity === "high" && acknowledged === undefined;
  const flagged = items.filter((item) => item.record.flags.some(isHigh));
  if (flagged.length === 0 && !record.flags.some(isHigh) && record.status === "active" && !record.pending) return null;
  return (
    <p class="warn">
      <strong>Read this first.</strong>{" "}
      {flagged.length > 0 && (
        <>
          {flagged.length} of its items may steer a model:{" "}
          {flagged.slice(0, 5).map(({ item }, at) => (
            <>
              {at > 0 && ", "}
              {text(clip(item.key, 80))}
            </>
          ))}
          .{" "}
        </>
      )}
      {record.flags.some(isHigh) && "Its own description is flagged. "}
      {record.status !== "active" && `Its publisher says that it is ${record.status}. `}
      {record.pending && `Something waits: ${record.pending}.`}
    </p>
  );
}

function href(server: ShownServer, client: string, way: string, given?: URLSearchParams): string {
  const search = new URLSearchParams({ client, way });
  for (const [name, value] of given ?? [])
    if (name.startsWith(valuePrefix) || name === "include") search.append(name, value);
  return `${serverHref(server)}/connect?${search}`;
}

function Ways({
  ways,
  chosen,
  server,
  client,
}: {
  ways: readonly Way[];
  chosen: Way;
  server: ShownServer;
  client: string;
}) {
  if (ways.length < 2) return <p class="small soft wrap">{text(clip(chosen.label, 160))}</p>;
  return (
    <nav aria-label="Ways to connect">
      <ul class="plain-list">
        {ways.map((way) => (
          <li>
            <a href={href(server, client, way.id)} aria-current={way.id === chosen.id ? "true" : undefined}>
              {text(clip(way.label, 120))}
            </a>
            {way.target === undefined && <span class="mute small"> cannot be used as published</span>}
          </li>
        ))}
      </ul>
    </nav>
  );
}

interface TabsShown {
  server: ShownServer;
  way: Way;
  client: ClientId;
  given: URLSearchParams;
}

function ClientTabs({ server, way, client, given }: TabsShown) {
  return (
    <nav class="tabs" aria-label="Clients">
      {clientIds.map((id) => (
        <a href={href(server, id, way.id, given)} aria-current={id === client ? "page" : undefined}>
          {clients[id].title}
        </a>
      ))}
    </nav>
  );
}

function Unusable({ way: { problems } }: { way: Way }) {
  return (
    <div class="warn">
      <p>What was published cannot be turned into a snippet:</p>
      <ul>
        {problems.slice(0, 10).map((problem) => (
          <li>{text(clip(problem, 300))}</li>
        ))}
      </ul>
      <p>Its owner can mend the manifest and publish it again.</p>
    </div>
  );
}

function Shown({ form }: { form: Form }) {
  const { title, problem, snippet, file, command, link, asks, notes, documentation } = form;
  if (problem !== undefined || snippet === undefined) {
    return (
      <section>
        <h2>{title}</h2>
        <p class="warn">{text(problem ?? "There is no snippet for this client.")}</p>
      </section>
    );
  }
  return (
    <section class="block" aria-labelledby="snippet-title">
      <h2 id="snippet-title">{title}</h2>
      {file !== undefined && (
        <p class="small">
          Into <code>{file.paths.linux}</code>
          {file.scope === "project" ? ", in the project's folder" : ""}
          {file.paths.darwin !== file.paths.linux && (
            <>
              {" "}
              (macOS <code>{file.paths.darwin}</code>, Windows <code>{file.paths.win32}</code>)
            </>
          )}
          :
        </p>
      )}
      <Code text={snippet} what={`the snippet for ${title}`} />
      {command !== undefined && command !== snippet && (
        <>
          <p class="small">Or let the client do it:</p>
          <Code text={command} what={`the command for ${title}`} />
        </>
      )}
      {link !== undefined && (
        <p>
          <a class="button" href={link}>
            Open in {title}
          </a>
        </p>
      )}
      {asks.length > 0 && (
        <ul class="plain-list small">
          {asks.map(({ variable, how, description, secret }) => (
            <li>
              {how === "replace" ? "Replace " : how === "prompt" ? "The client asks for " : "Set "}
              <code>{how === "replace" ? `<${variable}>` : variable}</code>
              {secret && " (a secret: it is never in a snippet)"}
              {description !== undefined && <>: {text(clip(description, 200))}</>}
            </li>
          ))}
        </ul>
      )}
      {notes.map((note) => (
        <p class="small soft">{text(clip(note, 400))}</p>
      ))}
      <p class="small mute wrap">
        {title}'s own words: <code>{documentation}</code>
      </p>
    </section>
  );
}

interface InputsShown {
  target: ConnectTarget;
  way: Way;
  client: ClientId;
  given: URLSearchParams;
}

/** The inputs that the server declares. Secrets have no field: they must not come into an address. */
function Inputs({ target, way, client, given }: InputsShown) {
  if (target.inputs.length === 0) return null;
  return (
    <form class="form" aria-label="What the server asks for">
      <h2 class="label">Fill in</h2>
      <input type="hidden" name="client" value={client} />
      <input type="hidden" name="way" value={way.id} />
      {target.inputs.slice(0, 50).map((input) => (
        <InputField input={input} given={given} />
      ))}
      <p>
        <button type="submit">Write into the snippet</button>
      </p>
    </form>
  );
}

function InputField({ input, given }: { input: ConnectInput; given: URLSearchParams }) {
  const { id, description, required, secret, choices, placeholder } = input;
  const field = `input-${id}`;
  const help = description !== undefined && <span class="small mute">{text(clip(description, 200))}</span>;
  if (secret) {
    if (required)
      return (
        <p class="small">
          {text(id)} is a secret: the client asks for it, or reads it from the environment. {help}
        </p>
      );
    return (
      <label class="check">
        <input type="checkbox" name="include" value={id} checked={given.getAll("include").includes(id)} />
        <span>
          ask for <code>{text(id)}</code> {help}
        </span>
      </label>
    );
  }
  const value = given.get(`${valuePrefix}${id}`) ?? "";
  return (
    <div class="field">
      <label for={field}>
        {text(id)}
        {required && <span class="req"> *</span>}
      </label>
      {help}
      {choices === undefined ? (
        <input
          id={field}
          name={`${valuePrefix}${id}`}
          value={value}
          placeholder={input.default ?? placeholder}
          maxlength={2000}
        />
      ) : (
        <select id={field} name={`${valuePrefix}${id}`}>
          <option value="">{input.default ?? "choose"}</option>
          {choices.slice(0, 100).map((choice) => (
            <option value={choice} selected={choice === value}>
              {choice}
            </option>
          ))}
        </select>
      )}
    </div>
  );
}

export const connectPages = [connect];
