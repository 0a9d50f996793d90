import { type Failure, failure } from "../../kernel/failure.ts";
import { ServerName, type ServerRef, TenantKey } from "../../kernel/names.ts";
import { err, ok, type Result } from "../../kernel/result.ts";

/** A parsed resource URI: a view of a server, or of the registry itself if `server` is absent. */
interface ResourceRef {
  view: string;
  server?: ServerRef;
  /** Type of the one generator that is asked for, if it is not the whole view. */
  generator?: string;
}

const maxUriLength = 2_048;

/**
 * Names need no escapes and views take no parameters, so a URI is matched verbatim, without normalisation. undefined
 * for a URI of another scheme.
 */
export function parseResourceUri(uri: string): Result<ResourceRef | undefined, Failure> {
  if (uri === "") return malformed("a URI is required");
  if (uri.length > maxUriLength) return malformed(`it is longer than ${maxUriLength} characters`);
  if (!/^[a-z][a-z0-9+.-]*:[!-~]+$/i.test(uri))
    return malformed("it needs a scheme, and no spaces or other characters");
  if (uri === "generator://decision_tree") return ok({ view: "decision_tree" });
  const [, scheme, path] = /^(capabilities|generator):\/\/(.*)$/.exec(uri) ?? [];
  if (path === undefined) return ok(undefined);
  if (/[?#]/.test(path)) return malformed("it takes neither a query nor a fragment");

  const part = scheme === "generator" ? "type" : "view";
  const refTo = (last: string) => (part === "type" ? { view: "generators", generator: last } : { view: last });
  const [tenant = "", name, last, ...rest] = path.split("/");
  if (name === undefined) return tenant === "" ? malformed(`a ${part} is missing`) : ok(refTo(tenant));
  if (last === undefined || last === "" || rest.length > 0) {
    return malformed(`it is ${scheme}://{${part}} or ${scheme}://{tenant}/{name}/{${part}}`);
  }
  const owner = TenantKey.safeParse(tenant);
  if (!owner.success) return malformed(`the tenant ${owner.error.issues[0]?.message}`);
  const server = ServerName.safeParse(name);
  if (!server.success) return malformed(`the name of the server ${server.error.issues[0]?.message}`);
  return ok({ ...refTo(last), server: { tenant: owner.data, name: server.data } });
}

function malformed(reason: string): Result<never, Failure> {
  return err(failure("ErrorBadRequest", `Malformed resource URI: ${reason}`));
}
