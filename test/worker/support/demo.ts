import compose from "../../../examples/demo/compose.json" with { type: "json" };
import library from "../../../examples/demo/library.json" with { type: "json" };
import petstore from "../../../examples/demo/petstore.json" with { type: "json" };
import shop from "../../../examples/demo/shop.json" with { type: "json" };
import weather from "../../../examples/demo/weather.json" with { type: "json" };
import { capabilities, configs, type Registry, token } from "./registry.ts";

/** A token for the tenant of the demo. */
export const demoToken = () => token({ sub: "demo-loader", tenants: ["demo"] });

/** The servers that `npm start` loads, which the operations' examples are about. */
export async function loadDemo(registry: Registry): Promise<void> {
  const member = await demoToken();
  for (const { config, manifest } of [weather, library, petstore, shop, compose]) {
    await registry.send("POST", configs, { token: member, body: config });
    await registry.send("PUT", capabilities(config.tenant, config.name), { token: member, body: manifest });
  }
}
