import { registryTarget } from "../../../src/connect/target.ts";
import { waysToConnect } from "../../../src/connect/ways.ts";

/** A server.json with an address and a package, and inputs of every kind. */
export const weather = {
  name: "acme/weather",
  remotes: [
    {
      type: "streamable-http",
      url: "https://{region}.weather.acme.dev/mcp",
      variables: { region: { description: "Where you are", choices: ["eu", "us"], default: "eu", isRequired: true } },
      headers: [{ name: "X-API-Key", description: "Key of weather.acme.dev", isRequired: true, isSecret: true }],
    },
  ],
  packages: [
    {
      registryType: "npm",
      identifier: "@acme/weather-mcp",
      version: "1.4.0",
      transport: { type: "stdio" },
      packageArguments: [
        { type: "named", name: "--units", value: "metric" },
        { type: "named", name: "--cache", valueHint: "folder" },
      ],
      environmentVariables: [
        { name: "WEATHER_KEY", description: "Key of weather.acme.dev", isRequired: true, isSecret: true },
        { name: "WEATHER_LANGUAGE", description: "Language of answers", default: "en" },
      ],
    },
  ],
};

export function targetOf(way: { remotes?: unknown[]; packages?: unknown[]; name?: string }) {
  const [first] = waysToConnect({ name: "acme/weather", ...way });
  if (first?.target === undefined) throw new Error(first?.problems.join("; "));
  return first.target;
}

export const targets = {
  registry: registryTarget("https://registry.acme.dev/", { token: true }),
  remote: targetOf({ remotes: weather.remotes }),
  package: targetOf({ packages: weather.packages }),
};
