import { admin, member } from "../http/access.ts";
import { requestError, unwrap } from "../http/context.ts";
import { operation } from "../http/operation.ts";
import { readCursor } from "../http/page.ts";
import { page } from "../http/parameters.ts";
import { Digest, TenantKey, tenantKey } from "../kernel/names.ts";
import { tenantExists } from "../registry/access.ts";
import { writeMeta, writerFrom } from "../registry/write.ts";
import type { FlagPosition } from "./contract.ts";
import type { FlagsDeps } from "./deps.ts";
import { AcknowledgedContent, Acknowledgement, FlagPage } from "./schema.ts";

const listFlags = operation({
  id: "listFlags",
  method: "get",
  path: "/api/flags",
  tag: "Publish",
  summary: "List what is flagged",
  description: "Items, manifests and settings of a tenant with text that a reader should look at before trusting it.",
  access: member("query"),
  parameters: { query: { tenant: TenantKey.describe("The tenant whose servers are looked at."), ...page(30) } },
  answers: { 200: { description: "A page.", data: FlagPage, generation: true } },
  examples: { demo: { query: { tenant: "demo" } } },

  async handle(services: FlagsDeps, { tenant, query: { limit, cursor }, answer }) {
    const scope = { list: "flags", tenant };
    const start = unwrap(await readCursor(services, cursor, scope));
    const [server = "", kind = "", name = ""] = start?.after ?? [];
    const { items, next, generation } = await services.tenant(tenant).flagged([server, kind, name], limit);
    const nextCursor = next && (await cursorAfter(services, next, generation, scope));
    return answer(200, { items, generation, nextCursor }, { generation, source: "object" });
  },
});

function cursorAfter(services: FlagsDeps, after: FlagPosition, generation: number, scope: object) {
  return services.cursors?.write({ after: [...after], generation }, scope);
}

const acknowledgeFlag = operation({
  id: "acknowledgeFlag",
  method: "post",
  path: "/api/flags/{digest}/acknowledge",
  tag: "Publish",
  summary: "Acknowledge a flag",
  description:
    "Admins only. The flag stays and says who acknowledged it; choices made for agents no longer leave the item out because of it. Other content under the same name is flagged anew.",
  access: admin("Only admins acknowledge flags"),
  parameters: {
    path: {
      digest: Digest.describe("Of the content, as `GET /api/flags` has it.").meta({
        examples: [`sha256-${"0".repeat(64)}`],
      }),
    },
  },
  body: { schema: Acknowledgement, limit: "configBytes" },
  answers: {
    200: {
      description: "Acknowledged, or no longer.",
      data: AcknowledgedContent,
      generation: true,
      directory: "sometimes",
    },
  },
  fails: ["ErrorMCPServerNotFound", "ErrorFlagNotFound", "ErrorTooManyAcknowledged"],
  examples: {},

  async handle(services: FlagsDeps, { principal, path: { digest }, body, answer }) {
    const { tenant: spelling, server, ...flag } = body;
    const tenant = tenantKey(spelling);
    if (!(await tenantExists(services, tenant))) throw requestError("ErrorMCPServerNotFound");
    const writer = writerFrom(principal, { tenant, spelling });
    const { content, changed, generation, ...receipt } = unwrap(
      await services.tenant(tenant).acknowledgeFlag(writer, server, { ...flag, digest }),
    );
    await services.heads.confirm(receipt.head, receipt.directory);
    const { etag: _, ...meta } = writeMeta(receipt);
    return answer(200, { ...content, generation, changed }, meta);
  },
});

export const flagsOperations = [listFlags, acknowledgeFlag];
