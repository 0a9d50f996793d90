import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { serverJsonOf } from "../../../src/official/derive-server-json.ts";
import { readServerJson, serverJsonIssues } from "../../../src/official/publish.ts";
import { inherit, storedTime } from "../../../src/official/read.ts";
import { ServerJson, serverJsonSchemaUri } from "../../../src/official/schema.ts";
import {
  checkName,
  claimedUrls,
  manifestFields,
  parseOfficialName,
  remoteSources,
} from "../../../src/official/server-json.ts";
import { latestOf } from "../../../src/official/version-order.ts";
import { ServerConfig } from "../../../src/registry/schema.ts";
import { describeFixture, readJson } from "../../support/fixtures.ts";

const plain = {
  $schema: serverJsonSchemaUri,
  name: "io.github.acme/weather",
  description: "Forecasts.",
  version: "1.2.0",
};
const issuesOf = (value: unknown, purpose: "publish" | "validate" = "validate") =>
  serverJsonIssues(readServerJson(value), purpose);
const paths = (value: unknown) => [...new Set(issuesOf(value).map(({ path }) => path))];

describe("a server.json", () => {
  const transport = { type: "stdio" };
  const npm = { registryType: "npm", identifier: "@acme/weather", transport };

  it.each<[string, object, string]>([
    ["no name", { name: undefined }, "/name"],
    ["a name without a slash", { name: "weather" }, "/name"],
    ["a name with two", { name: "a/b/c" }, "/name"],
    ["a name of 201 characters", { name: `a/${"b".repeat(199)}` }, "/name"],
    ["a namespace that starts with a dash", { name: "-io.github/weather" }, "/name"],
    ["a name that starts with a dot", { name: "io.github.acme/.weather" }, "/name"],
    ["no description", { description: "" }, "/description"],
    ["a description of 101 characters", { description: "é".repeat(101) }, "/description"],
    ["no version", { version: undefined }, "/version"],
    ["an empty version", { version: "" }, "/version"],
    ["a version of 256 characters", { version: "1".repeat(256) }, "/version"],
    ["a version range", { version: "^1.2.0" }, "/version"],
    ["the latest version", { version: "latest" }, "/version"],
    ["a package without an identifier", { packages: [{ ...npm, identifier: undefined }] }, "/packages/0/identifier"],
    [
      "a package without a registry type",
      { packages: [{ ...npm, registryType: undefined }] },
      "/packages/0/registryType",
    ],
    ["a package without a transport", { packages: [{ ...npm, transport: undefined }] }, "/packages/0/transport"],
    ["a package at the latest version", { packages: [{ ...npm, version: "latest" }] }, "/packages/0/version"],
    ["a package at a range", { packages: [{ ...npm, version: "1.x" }] }, "/packages/0/version"],
    [
      "a positional argument without a value",
      { packages: [{ ...npm, packageArguments: [{ type: "positional" }] }] },
      "/packages/0/packageArguments/0",
    ],
    ["a remote without a URL", { remotes: [{ type: "sse" }] }, "/remotes/0/url"],
    ["a remote that speaks stdio", { remotes: [{ type: "stdio", url: "https://a.example" }] }, "/remotes/0/type"],
    ["a remote that is no URL", { remotes: [{ type: "sse", url: "ftp://a.example" }] }, "/remotes/0/url"],
    ["a repository without a source", { repository: { url: "https://github.com/a/b" } }, "/repository/source"],
    ["a repository without a URL", { repository: { source: "github" } }, "/repository/url"],
    ["an icon without a source", { icons: [{ sizes: ["any"] }] }, "/icons/0/src"],
    ["a website that is no URL", { websiteUrl: "javascript:alert(1)" }, "/websiteUrl"],
    ["a key that nobody knows", { "x-acme": { a: [1] } }, ""],
    ["what only registries say", { _meta: { "com.example": {} } }, "/_meta"],
    ["no schema", { $schema: undefined }, "/$schema"],
    [
      "more from its publisher than fits",
      { _meta: { "io.modelcontextprotocol.registry/publisher-provided": { a: "x".repeat(4_096) } } },
      "/_meta/io.modelcontextprotocol.registry~1publisher-provided",
    ],
    ["an invisible character", { description: "Fore\u200bcasts." }, "/description"],
  ])("with %s is refused, and where is said", (_, change, path) => {
    expect(paths({ ...plain, ...change })).toEqual([path]);
  });

  it.each([
    ["the least", plain],
    ["100 characters that take two units each", { ...plain, description: "😀".repeat(100) }],
    ["a version that is not semantic", { ...plain, version: "2026-autumn" }],
    [
      "a template",
      { ...plain, remotes: [{ type: "sse", url: "https://{region}.example/sse", variables: { region: {} } }] },
    ],
    ["null for what is absent", { ...plain, title: null, packages: null, repository: null }],
  ])("with %s is taken", (_, document) => expect(issuesOf(document)).toEqual([]));

  it.each([null, [], "text", 1])("is an object, not %j", (value) => expect(paths(value)).toEqual([""]));
});

describeFixture("the official examples of what is not valid", "registry-official/server-json-examples", (folder) => {
  it.each(readdirSync(folder))("%s is refused", (file) => {
    const issues = issuesOf(readJson(join(folder, file))).filter(({ path }) => path !== "/$schema");
    expect(issues.length).toBeGreaterThan(0);
    const where = file.includes("name")
      ? "/name"
      : file.includes("description")
        ? "/description"
        : "/packages/0/version";
    expect(issues[0]?.path).toBe(where);
  });
});

describe("filters beside a cursor", () => {
  const carried = { search: "a", version: "latest", includeDeleted: false };

  it("may be left out or repeated", () => {
    expect(inherit({}, carried)).toEqual({ ok: true, value: carried });
    expect(inherit({ search: "a", includeDeleted: false }, carried)).toEqual({ ok: true, value: carried });
  });

  it("must not contradict it", () => {
    expect(inherit({ version: "1.0.0" }, carried)).toMatchObject({ ok: false, error: { code: "ErrorCursorInvalid" } });
    expect(inherit({ updatedSince: "2025-01-01T00:00:00.000Z" }, carried).ok).toBe(false);
  });
});

describe("the latest version", () => {
  const latest = (...versions: string[]) =>
    latestOf(versions.map((version, sequence) => ({ version, status: "active" as const, sequence })))?.version;

  it.each([
    ["the highest, whenever it came", ["1.10.0", "1.9.0"], "1.10.0"],
    ["a release before what led to it", ["2.0.0", "2.0.0-rc.1"], "2.0.0"],
    ["the higher of two that led to it", ["2.0.0-rc.2", "2.0.0-rc.10"], "2.0.0-rc.10"],
    ["the newer where only the build differs", ["1.0.0+b", "1.0.0+a"], "1.0.0+a"],
    ["the newer of two that are not semantic", ["2026-autumn", "2026-spring"], "2026-spring"],
    ["a semantic one before any other", ["1.0.0", "2026-spring"], "1.0.0"],
    ["and that in every order", ["1.0.0", "zebra", "0.9.0"], "1.0.0"],
  ])("is %s", (_, versions, expected) => expect(latest(...versions)).toBe(expected));

  it("is not a deleted one, unless all are", () => {
    const one = { version: "1.0.0", status: "active" as const, sequence: 1 };
    const two = { version: "2.0.0", status: "deleted" as const, sequence: 2 };
    expect(latestOf([one, two])).toBe(one);
    expect(latestOf([{ ...one, status: "deleted" }, two])).toBe(two);
    expect(latestOf([])).toBeUndefined();
  });
});

describe("what becomes of a server.json", () => {
  const document: ServerJson = {
    ...plain,
    $schema: "https://example.com/schema",
    remotes: [
      { type: "streamable-http", url: "https://a.example/mcp" },
      { type: "sse", url: "https://b.example/sse", headers: [{ name: "X-Key", isRequired: true }] },
      { type: "sse", url: "https://{region}.example/sse", variables: { region: {} } },
      { type: "sse", url: "https://c.example/sse?token=abc" },
      { type: "sse", url: "https://d.example/sse", headers: [{ name: "X-Hint" }] },
      { type: "sse", url: "http://localhost:8000/sse" },
    ],
    _meta: { "io.modelcontextprotocol.registry/publisher-provided": { tool: "t" } },
  };

  it("its name is a tenant's and a server's", () => {
    expect(parseOfficialName("io.github.ChromeDevTools/Weather")).toEqual({
      tenant: "io.github.chromedevtools",
      spelling: "io.github.ChromeDevTools",
      name: "Weather",
    });
    expect(checkName("io.github.acme/Weather_2")).toBeUndefined();
    expect(checkName("IO.github/w")).toBeUndefined();
    expect(checkName(".io.github/w")).toContain("tenant");
    expect(checkName(`a/${"b".repeat(129)}`)).toContain("after the slash");
  });

  it("the remotes that can be read as they are become sources", () => {
    const sources = remoteSources(document.remotes, (url) => !url.includes("localhost"));
    expect(sources).toEqual([
      { id: "remote-1", type: "streamable-http", url: "https://a.example/mcp" },
      { id: "remote-5", type: "sse", url: "https://d.example/sse" },
    ]);
  });

  it("its addresses are its own, but for those on the reader's machine", () => {
    expect(claimedUrls(document)).toEqual([
      "https://a.example/mcp",
      "https://b.example/sse",
      "https://{region}.example/sse",
      "https://c.example/sse?token=abc",
      "https://d.example/sse",
    ]);
    const spelled = { remotes: [{ type: "sse" as const, url: "HTTPS://A.example:443/mcp" }] };
    expect(claimedUrls(spelled)).toEqual(["https://a.example/mcp"]);
  });

  it("all but its schema and its name is the manifest's", () => {
    const { $schema: _, name: __, ...fields } = document;
    expect(manifestFields(document)).toEqual(fields);
  });
});

describe("the server.json of a server that was registered here", () => {
  const config = (change: object = {}) => ServerConfig.parse({ tenant: "acme", name: "weather", ...change });
  const isPublic = (url: string) => url.startsWith("https://");
  const derive = (change: object, header: Record<string, unknown> = {}) =>
    serverJsonOf(config(change), header, isPublic);

  it("is valid however little is known", () => {
    const document = derive({});
    expect(document).toMatchObject({ name: "acme/weather", description: "acme/weather", version: "0.0.0" });
    expect(ServerJson.safeParse(document).success).toBe(true);
  });

  it("has the server.json part of its manifest as it was published", () => {
    const header = {
      title: "Weather",
      description: "Forecasts.",
      version: "2.0.0",
      websiteUrl: "https://acme.example/",
      repository: { url: "https://github.com/acme/weather", source: "github", id: "1" },
      icons: [{ src: "https://acme.example/i.png", sizes: ["48x48"] }],
      packages: [{ registryType: "npm", identifier: "@acme/w", version: "2.0.0", transport: { type: "stdio" } }],
      remotes: [{ type: "sse", url: "https://acme.example/sse", headers: [{ name: "X-Key", isSecret: true }] }],
      _meta: { "io.modelcontextprotocol.registry/publisher-provided": { a: 1 } },
    };
    const { $schema: _, name, ...rest } = derive({}, header);
    expect([name, rest]).toEqual(["acme/weather", header]);
  });

  it.each([
    ["a range", "1.x", "0.0.0"],
    ["free text", "2.5", "2.5"],
    ["nothing", undefined, "3.1.4"],
  ])("has a version that can be compared where its own is %s", (_, version, expected) => {
    expect(
      derive({}, { version, serverInfo: { name: "w", version: expected === "2.5" ? "9" : "3.1.4" } }).version,
    ).toBe(version === undefined ? "3.1.4" : expected);
  });

  it("is clipped by characters, not in the middle of one", () => {
    const { description, title } = derive({ description: "😀".repeat(120), title: "t".repeat(101) });
    expect(Array.from(description)).toHaveLength(100);
    expect(description.endsWith("😀…")).toBe(true);
    expect(title).toBe(`${"t".repeat(99)}…`);
  });

  it("names the sources that anyone may ask, and no others", () => {
    const { remotes } = derive({
      sources: [
        { type: "streamable-http", url: "https://a.example/mcp" },
        { type: "sse", url: "https://b.example/sse", credential: { secret: "key" } },
        { type: "sse", url: "https://c.example/sse?api_key=1" },
        { type: "sse", url: "http://10.0.0.1/sse" },
        { type: "stdio" },
      ],
    });
    expect(remotes).toEqual([{ type: "streamable-http", url: "https://a.example/mcp" }]);
  });

  it("leaves out what has no valid form there", () => {
    const header = {
      websiteUrl: "not a url",
      repository: { url: "" },
      icons: [{ src: "data:image/png;base64,AA" }],
      packages: [{ name: "old" }, { registryType: "npm", identifier: "x", transport: { type: "stdio" } }],
    };
    const document = derive({}, header);
    expect(Object.keys(document)).toEqual(["$schema", "name", "description", "version", "packages"]);
    expect(document.packages).toHaveLength(1);
  });
});

describe("updated_since", () => {
  it.each([
    ["2025-08-07T13:15:04.280Z", "2025-08-07T13:15:04.280Z"],
    ["2025-08-07T13:15:04Z", "2025-08-07T13:15:04.000Z"],
    ["2025-08-07t15:15:04.2809999+02:00", "2025-08-07T13:15:04.280Z"],
    ["9999-12-31T23:59:59-14:00", "9999-12-31T23:59:59.999Z"],
  ])("%s is %s", (given, expected) => expect(storedTime(given)).toBe(expected));

  it.each([
    "2025-08-07",
    "yesterday",
    "1754572504",
    "2025-08-07T13:15:04",
    "2025-08-07T13:15:04 02:00",
    "2025-02-30T00:00:00Z",
    "2025-13-01T00:00:00Z",
    "2025-01-01T25:00:00Z",
  ])("%s is none", (given) => expect(storedTime(given)).toBeUndefined());
});
