import { describe, expect, it } from "vitest";
import { connectForm } from "../../../src/connect/forms.ts";
import { clientName, variableOf } from "../../../src/connect/target.ts";
import { waysToConnect } from "../../../src/connect/ways.ts";
import { targetOf, weather } from "./shared.ts";

const argsOf = (declared: Record<string, unknown>) => {
  const { entry } = connectForm("json", targetOf({ packages: [declared] }));
  const { command, args } = entry as { command: string; args: string[] };
  return [command, ...args].join(" ");
};

describe("the ways to connect", () => {
  it("are the publisher's addresses and packages, each with an id and a label", () => {
    expect(waysToConnect(weather).map(({ id, label, problems }) => ({ id, label, problems }))).toEqual([
      { id: "remote-0", label: "https://{region}.weather.acme.dev/mcp", problems: [] },
      { id: "package-0", label: "npm @acme/weather-mcp 1.4.0", problems: [] },
    ]);
    expect(waysToConnect({ name: "acme/none" })).toEqual([]);
  });
});

describe("packages", () => {
  it.each([
    [{ registryType: "npm", identifier: "@a/b", version: "1.2.3" }, "npx -y @a/b@1.2.3"],
    [{ registryType: "pypi", identifier: "a-b", version: "1.2.3" }, "uvx a-b@1.2.3"],
    [{ registryType: "nuget", identifier: "A.B", version: "1.2.3" }, "dnx A.B@1.2.3 --yes"],
    [{ registryType: "oci", identifier: "ghcr.io/a/b:1.2.3" }, "docker run -i --rm ghcr.io/a/b:1.2.3"],
    [{ registryType: "oci", identifier: "a/b", version: "1.2.3" }, "docker run -i --rm a/b:1.2.3"],
    [
      {
        registryType: "oci",
        identifier: "a/b:1",
        runtimeArguments: [{ type: "named", name: "--network", value: "host" }],
        environmentVariables: [{ name: "KEY", isRequired: true, isSecret: true }],
      },
      "docker run -i --rm -e KEY --network host a/b:1",
    ],
    [
      { registryType: "npm", identifier: "x", version: "1.0.0", registryBaseUrl: "https://npm.acme.dev" },
      "npx -y --registry=https://npm.acme.dev x@1.0.0",
    ],
    [
      {
        registryType: "npm",
        identifier: "x",
        version: "1.0.0",
        packageArguments: [{ type: "named", name: "--stdio" }],
      },
      "npx -y x@1.0.0 --stdio",
    ],
  ])("%j", (declared, command) => {
    expect(argsOf(declared)).toBe(command);
  });

  it("without a version say so", () => {
    const { notes } = targetOf({ packages: [{ registryType: "npm", identifier: "x" }] });
    expect(notes).toEqual(["The publisher names no version: every start runs whatever is newest then."]);
  });

  it("that listen are started first", () => {
    const target = targetOf({
      packages: [
        {
          registryType: "npm",
          identifier: "x",
          version: "1.0.0",
          packageArguments: [
            { type: "named", name: "--port", value: "{port}", variables: { port: { default: "3000" } } },
          ],
          transport: { type: "streamable-http", url: "http://127.0.0.1:{port}/mcp" },
        },
      ],
    });
    const form = connectForm("cursor", target);
    expect(form.entry).toEqual({ url: "http://127.0.0.1:3000/mcp" });
    expect(form.notes).toEqual(["Start the server first: npx -y x@1.0.0 --port 3000"]);
  });
});

describe("what cannot be used has a reason instead of a snippet", () => {
  const remote = { type: "streamable-http", url: "https://a.dev/mcp" };
  const npm = { registryType: "npm", identifier: "x", version: "1.0.0" };
  it.each([
    ["an address of another scheme", { remotes: [{ ...remote, url: "file:///etc/passwd" }] }, "url: it is not"],
    ["no object", { remotes: ["https://a.dev"] }, "url: it is not"],
    [
      "a header that would send a variable of the reader",
      { remotes: [{ ...remote, headers: [{ name: "X", value: `\${env:GITHUB_TOKEN}` }] }] },
      "headers.X: clients would replace",
    ],
    [
      "the same in the way of Gemini on Windows",
      { remotes: [{ ...remote, headers: [{ name: "X", value: "%GITHUB_TOKEN%" }] }] },
      "headers.X: clients would replace",
    ],
    [
      "an address with a variable",
      { remotes: [{ ...remote, url: "https://a.dev/$HOME" }] },
      "url: clients would replace",
    ],
    [
      "a header over two lines",
      { remotes: [{ ...remote, headers: [{ name: "X", value: "a\r\nY: b" }] }] },
      "control characters",
    ],
    [
      "a name that is no header",
      { remotes: [{ ...remote, headers: [{ name: "X: y", value: "a" }] }] },
      "not the name of a header",
    ],
    [
      "a default with a variable",
      { packages: [{ ...npm, environmentVariables: [{ name: "A", default: "$HOME" }] }] },
      "input A",
    ],
    ["a package that is a flag", { packages: [{ ...npm, identifier: "--call=sh" }] }, "not the name of a package"],
    [
      "a package that is a URL",
      { packages: [{ ...npm, identifier: "https://evil.dev/x.tgz" }] },
      "not the name of a package",
    ],
    ["a version that is none", { packages: [{ ...npm, version: "1 --call sh" }] }, "is not a version"],
    [
      "a registry without TLS",
      { packages: [{ ...npm, registryBaseUrl: "http://npm.evil.dev" }] },
      "is not an https URL",
    ],
    [
      "an image of a registry beside it",
      { packages: [{ ...npm, registryType: "oci", registryBaseUrl: "https://r.dev" }] },
      "must name its registry",
    ],
    ["a bundle", { packages: [{ ...npm, registryType: "mcpb" }] }, "by hand"],
    ["an unknown registry", { packages: [{ ...npm, registryType: "constructor" }] }, "no command here"],
    [
      "a variable that is none",
      { packages: [{ ...npm, environmentVariables: [{ name: "A=B" }] }] },
      "not the name of a variable",
    ],
  ])("%s", (_what, server, reason) => {
    const [way] = waysToConnect({ name: "acme/x", ...server });
    expect(way?.target).toBeUndefined();
    expect(way?.problems.join("; ")).toContain(reason);
  });

  it("runtimeHint chooses no program", () => {
    expect(argsOf({ ...npm, runtimeHint: "bash" })).toBe("npx -y x@1.0.0");
  });
});

describe("names", () => {
  it.each([
    ["weather", "weather"],
    ["my.server", "my-server"],
    ["..", "server"],
  ])("%s is %s in a client", (name, expected) => {
    expect(clientName(name)).toBe(expected);
  });

  it("a publisher cannot name a variable that the reader has for something else", () => {
    const header = {
      name: "Authorization",
      value: "Bearer {GITHUB_TOKEN}",
      variables: { GITHUB_TOKEN: { isSecret: true } },
    };
    const remote = targetOf({ remotes: [{ url: "https://a.dev/mcp", headers: [header] }] });
    expect(variableOf(remote, "GITHUB_TOKEN")).toBe("WEATHER_GITHUB_TOKEN");
    // A command runs as the reader anyway, and expects the variable under this name.
    const local = targetOf({
      packages: [{ registryType: "npm", identifier: "x", environmentVariables: [{ name: "GITHUB_TOKEN" }] }],
    });
    expect(variableOf(local, "GITHUB_TOKEN")).toBe("GITHUB_TOKEN");
  });
});

it("refuses a way that declares more inputs than anyone fills in", () => {
  const environmentVariables = Array.from({ length: 201 }, (_, at) => ({ name: `A${at}` }));
  const packages = [
    { registryType: "npm", identifier: "x", version: "1.0.0", transport: { type: "stdio" }, environmentVariables },
  ];
  expect(waysToConnect({ name: "t/n", packages })).toEqual([
    { id: "package-0", label: "npm x 1.0.0", problems: ["environmentVariables: more than 200 entries"] },
  ]);
});
