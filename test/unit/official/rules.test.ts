import { describe, expect, it } from "vitest";
import { readServerJson, serverJsonIssues } from "../../../src/official/publish.ts";
import { isVersionRange } from "../../../src/official/rules.ts";
import { serverJsonSchemaUri } from "../../../src/official/schema.ts";

const plain = {
  $schema: serverJsonSchemaUri,
  name: "io.github.acme/weather",
  description: "Forecasts.",
  version: "1.2.0",
};
const issuesOf = (value: unknown, purpose: "publish" | "validate") => serverJsonIssues(readServerJson(value), purpose);

describe("the rules of the official registry 1.8.7", () => {
  const pack = (change: object) => ({
    packages: [{ registryType: "npm", identifier: "x", version: "1.0.0", transport: { type: "stdio" }, ...change }],
  });
  const remote = (url: string, variables?: object) => ({ remotes: [{ type: "sse", url, variables }] });
  const http = (url: string, change: object = {}) => pack({ transport: { type: "streamable-http", url }, ...change });
  const argument = (change: object) => pack({ packageArguments: [{ type: "named", name: "--port", ...change }] });
  const schema = (version: string) => serverJsonSchemaUri.replace("2025-12-11", version);
  const source = (url: string, from: string) => ({ repository: { url, source: from } });

  // Each was asked of that registry: [what, refused when validated, refused when published].
  it.each<[string, object, boolean, boolean]>([
    ["a namespace of one character", { name: "a/bc" }, true, true],
    ["a name that ends in a dash", { name: "io.a/b-" }, true, true],
    ["a name of two characters each", { name: "ab/cd" }, false, false],
    ["a title of spaces", { title: "  " }, true, true],
    ["a description of spaces", { description: "   " }, false, false],
    ["a schema that names no version", { $schema: "https://x/y" }, true, true],
    ["a schema that is no URL", { $schema: "not a uri" }, true, true],
    ["an unknown version of the schema", { $schema: schema("2030-01-01") }, true, true],
    ["an old version of the schema", { $schema: schema("2025-10-17") }, false, false],
    ["the schema at another host", { $schema: "https://other/schemas/2025-12-11/server.schema.json" }, false, false],
    ["the oldest schema with a package", { $schema: schema("2025-07-09"), ...pack({}) }, true, false],
    [
      "an old schema, no package version",
      { $schema: schema("2025-09-29"), ...pack({ version: undefined }) },
      true,
      false,
    ],
    ["a newer schema without one", { $schema: schema("2025-10-11"), ...pack({ version: undefined }) }, false, false],
    [
      "an old schema with an sse template",
      { $schema: schema("2025-10-17"), ...remote("https://{r}.a/", { r: {} }) },
      true,
      false,
    ],
    ["a version with a space behind it", { version: "1.0.0 " }, false, false],
    ["a version in capitals", { version: "LATEST" }, false, false],
    ["an interval for a version", { version: "[1.0,2.0)" }, false, false],
    ["a pre-release with an x", { version: "1.x-alpha" }, true, true],
    ["a website over http", { websiteUrl: "http://a.test" }, true, true],
    ["a website with a quote", { websiteUrl: "https://a.test/'" }, true, true],
    ["a website with a broken escape", { websiteUrl: "https://a.test/%zz" }, true, true],
    ["a website with a broken escape in its query", { websiteUrl: "https://a.test/?%zz" }, false, false],
    ["a website with a space in its host", { websiteUrl: "https://a b.test" }, true, true],
    ["a website with letters for a port", { websiteUrl: "https://a.test:x/" }, true, true],
    ["a website without a host", { websiteUrl: "https://" }, false, false],
    ["a long website", { websiteUrl: `https://a.test/${"x".repeat(3_000)}` }, false, false],
    ["a repository elsewhere", source("https://bitbucket.org/a/b", "bitbucket"), true, true],
    ["a repository's page", source("https://github.com/a/b/tree/main", "github"), true, true],
    ["a repository in a group", source("https://gitlab.com/a/b/c", "gitlab"), false, false],
    ["a page of GitLab", source("https://gitlab.com/a/b/-/tree", "gitlab"), true, true],
    ["a source that objects have", source("https://github.com/a/b", "constructor"), true, true],
    ["an icon as data", { icons: [{ src: "data:image/png;base64,AA" }] }, true, true],
    ["an icon of an odd size", { icons: [{ src: "https://a/b.png", sizes: ["48"] }] }, true, false],
    ["101 icons", { icons: Array(101).fill({ src: "https://a/b.png" }) }, false, false],
    ["a remote over http", remote("http://a.test/sse"), true, true],
    ["a remote on this machine", remote("https://a.localhost/sse"), true, true],
    ["a remote at another loopback address", remote("https://127.0.0.2/sse"), false, false],
    ["a remote with an undefined variable", remote("https://{r}.test/sse"), true, true],
    ["a remote with a defined variable", remote("https://{r}.test/sse", { r: {} }), false, false],
    ["a remote with a variable port", remote("https://a.test:{p}/sse", { p: {} }), false, false],
    ["a remote that is a variable", remote("{r}/sse", { r: {} }), true, true],
    ["a remote with an empty variable", remote("https://{}.test/sse"), true, true],
    ["a remote with a space", remote("https://a.test/s se"), true, false],
    ["a remote with its scheme in capitals", remote("HTTPS://a.test/sse"), true, false],
    ["a remote without a host", remote("https:///sse"), true, true],
    [
      "33 remotes",
      { remotes: Array.from({ length: 33 }, (_, at) => ({ type: "sse", url: `https://a.test/${at}` })) },
      false,
      false,
    ],
    ["a package with a space", pack({ identifier: "a b" }), true, true],
    ["a package from a registry of its own", pack({ registryBaseUrl: "https://npm.corp.test" }), false, false],
    ["a package of an unknown type", pack({ registryType: "helm" }), false, false],
    ["stdio with a URL", pack({ transport: { type: "stdio", url: "https://a" } }), true, true],
    ["http without a URL", pack({ transport: { type: "streamable-http" } }), true, true],
    ["http with an undefined variable", http("http://localhost:{port}/mcp"), true, true],
    [
      "http with an argument",
      http("http://localhost:{port}/mcp", { packageArguments: [{ type: "named", name: "port" }] }),
      false,
      false,
    ],
    [
      "http with an environment variable",
      http("http://localhost:{PORT}/mcp", { environmentVariables: [{ name: "PORT" }] }),
      false,
      false,
    ],
    [
      "http with a hint",
      http("http://localhost:{p}/mcp", { runtimeArguments: [{ type: "positional", valueHint: "p" }] }),
      false,
      false,
    ],
    [
      "http with a variable scheme",
      http("{protocol}://localhost/mcp", { environmentVariables: [{ name: "protocol" }] }),
      true,
      false,
    ],
    ["an empty positional argument", argument({ type: "positional", value: "" }), false, false],
    ["a positional argument that is null", argument({ type: "positional", value: null }), true, true],
    ["a named argument with a value in its name", argument({ name: "--dir <path>" }), true, true],
    ["a named argument without a name", argument({ name: undefined }), true, true],
    ["a value that repeats the name", argument({ value: "--port 80" }), true, true],
    ["a default that repeats the name", argument({ default: "--port=1" }), true, true],
    ["another type of argument", argument({ type: "flag" }), true, true],
    ["an input of another format", pack({ environmentVariables: [{ name: "A", format: "int" }] }), true, true],
    ["a choice that is null", pack({ environmentVariables: [{ name: "A", choices: [null] }] }), true, true],
    ["a variable that is null", remote("https://{r}.test/sse", { r: null }), true, true],
    ["a description that is null", { description: null }, true, true],
  ])("%s", (_, change, validated, published) => {
    const document = { ...plain, ...change };
    const refused = (purpose: "publish" | "validate") =>
      issuesOf(document, purpose).some(({ severity }) => severity === "error");
    expect([refused("validate"), refused("publish")]).toEqual([validated, published]);
  });
});

describe("version ranges", () => {
  it.each([
    "^1.2.3",
    "~1.2.3",
    ">=1.2.3",
    "<2",
    "=1.0.0",
    "1.x",
    "1.*",
    "1.2.X",
    "1.0.0 || 2.0.0",
    "1.0.0 - 2.0.0",
    " 1.x ",
  ])("%s is one", (version) => expect(isVersionRange(version)).toBe(true));
  it.each([
    "1.2.3",
    "v1",
    "1.0.0-alpha.1",
    "2021.03.15",
    "1.2.3+build.5",
    "x-ray",
    "snapshot",
    "1.0.0-rc.1",
    "[1.0,2.0)",
    "*",
  ])("%s is none", (version) => expect(isVersionRange(version)).toBe(false));
});
