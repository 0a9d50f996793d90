import calendarRtfs from "../../../examples/calendar.rtfs?raw";
import almanac from "../../../examples/demo/almanac.json" with { type: "json" };
import calendar from "../../../examples/demo/calendar.json" with { type: "json" };
import compose from "../../../examples/demo/compose.json" with { type: "json" };
import files from "../../../examples/demo/files.json" with { type: "json" };
import issues from "../../../examples/demo/issues.json" with { type: "json" };
import library from "../../../examples/demo/library.json" with { type: "json" };
import mail from "../../../examples/demo/mail.json" with { type: "json" };
import petstore from "../../../examples/demo/petstore.json" with { type: "json" };
import shop from "../../../examples/demo/shop.json" with { type: "json" };
import store from "../../../examples/demo/store.json" with { type: "json" };
import suspicious from "../../../examples/demo/suspicious.json" with { type: "json" };
import weather from "../../../examples/demo/weather.json" with { type: "json" };
import petstoreYaml from "../../../examples/petstore.yaml?raw";
import { capabilities, configs, type Registry, token } from "./registry.ts";

/** A token for the tenant of the demo. */
export const demoToken = () => token({ sub: "demo-loader", tenants: ["demo"] });

const published = [weather, library, shop, compose, mail, files, store, issues, almanac, suspicious];
const imported = [
  { ...petstore, document: petstoreYaml },
  { ...calendar, document: calendarRtfs },
];

/** The servers that `npm start` loads, which the operations' examples are about. */
export async function loadDemo(registry: Registry): Promise<void> {
  const member = await demoToken();
  for (const { config, manifest } of published) {
    await registry.send("POST", configs, { token: member, body: config });
    await registry.send("PUT", capabilities(config.tenant, config.name), { token: member, body: manifest });
  }
  for (const { config, import: from, document } of imported) {
    await registry.send("POST", configs, { token: member, body: config });
    const query = `tenant=${config.tenant}&name=${config.name}`;
    const headers = { "Content-Type": from.type };
    await registry.send("POST", `/api/import/${from.format}?${query}`, { token: member, headers, body: document });
  }
}
