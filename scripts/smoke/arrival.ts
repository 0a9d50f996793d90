import { CommandError } from "../command.ts";
import type { Step } from "./steps.ts";

/** What must hold before anything is published: the registry answers, knows its address, and accepts the token. */
export const arrival: Step[] = [
  {
    name: "health",
    async run({ at }) {
      const { body } = await at.expect(200, "/healthz");
      const { name, version } = body?.data ?? {};
      if (name !== "rollcall") throw new CommandError(`${at.url} answers, but is no Rollcall registry.`);
      return `${name} ${version} answers`;
    },
  },
  {
    name: "address",
    async run({ at }) {
      const { body } = await at.expect(200, "/.well-known/oauth-protected-resource");
      const origin = URL.parse(body?.resource)?.origin;
      if (origin === at.url) return `the registry says that it is at ${origin}`;
      throw new CommandError(
        `The registry says that it is at ${body?.resource}, so links and hooks lead there. ` +
          `Set PUBLIC_URL to ${at.url} and deploy again, or try the other address.`,
      );
    },
  },
  {
    name: "token",
    async run(trial) {
      const { body } = await trial.at.expect(200, "/api/whoami");
      const { subject, tenants, scopes, admin, registry } = body.data as Caller;
      for (const scope of ["registry:read", "registry:publish"]) {
        if (!scopes.includes(scope)) throw new CommandError(`The token lacks the scope ${scope}.`);
      }
      const [only] = tenants;
      if (trial.tenant === "") {
        if (only === undefined || tenants.length > 1) {
          const which = tenants.length > 1 ? `is for ${tenants.join(", ")}` : "names no tenant";
          throw new CommandError(`The token ${which}: say where to publish with --tenant T.`);
        }
        trial.tenant = only;
      }
      const isFor = tenants.some((tenant) => tenant.toLowerCase() === trial.tenant.toLowerCase());
      if (!isFor && !admin) throw new CommandError(`The token is not for the tenant ${trial.tenant}.`);
      const cache = registry.features["platform_cache"] === true ? "with" : "without";
      return `${subject} may publish in ${trial.tenant}; the registry runs ${cache} the platform's cache`;
    },
  },
];

interface Caller {
  subject: string;
  tenants: string[];
  scopes: string[];
  admin: boolean;
  registry: { features: Record<string, boolean> };
}
