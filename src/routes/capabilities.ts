import { effectiveBy } from "../domain/contract.ts";
import { succeed } from "../http/answer.ts";
import { readDocument } from "../http/body.ts";
import { type App, bad, unwrap } from "../http/context.ts";
import { readView } from "../http/read-view.ts";
import { flag, parameters, serverRef } from "../http/request.ts";
import { validated } from "../http/validate.ts";
import { writerTo, written } from "../http/write.ts";
import { publishDocument } from "../publish.ts";
import { ItemSwitch } from "../schemas/index.ts";
import type { Services } from "../services.ts";
import { capabilitiesView } from "../views/capabilities.ts";

const path = "/api/mcp/capabilities/:tenant/:name";

/** What a server can do: read it, publish it, switch items on and off. */
export function capabilitiesRoutes(app: App, services: Services): void {
  const { bounds } = services.config;

  app.get(path, (c) => readView(c, services, capabilitiesView));

  app.put(path, async (c) => {
    const ref = serverRef(c);
    const writer = await writerTo(c, services, ref.tenant);
    const partial = flag("partial", parameters(c, ["partial"]).partial);
    const document = await readDocument(c, { bytes: bounds.manifestBytes, depth: bounds.depth });
    const published = unwrap(await publishDocument(services, ref, writer, document, partial));
    const { head, rejected, narrowed, ...result } = published;
    const data = {
      ...result,
      ...(partial ? { rejected } : {}),
      ...(narrowed ? { effectiveBy: effectiveBy(services.now()) } : {}),
    };
    return succeed(c, services, data, written(head, published.outcome === "created" ? 201 : 200));
  });

  app.patch(path, async (c) => {
    const ref = serverRef(c);
    const writer = await writerTo(c, services, ref.tenant);
    parameters(c, []);
    const document = await readDocument(c, { bytes: bounds.configBytes, depth: bounds.depth });
    const { items } = validated(ItemSwitch, document);
    const switches = items.map(({ kind, name, enabled }) => ({ kind, key: name, enabled }));
    const { head, generation, changed, narrowed } = unwrap(
      await services.tenant(ref.tenant).switchItems(writer, ref.name, switches),
    );
    await services.heads.confirm(head);
    const data = { generation, changed, ...(narrowed ? { effectiveBy: effectiveBy(services.now()) } : {}) };
    return succeed(c, services, data, written(head));
  });

  app.all(path, () => {
    throw bad("ErrorMethodNotAllowed", undefined, { allow: "GET, HEAD, PUT, PATCH" });
  });
}
