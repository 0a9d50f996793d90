import { describe, expect, it } from "vitest";
import { type Config, ConfigError, readConfig, Settings } from "../../src/config.ts";
import { defaultBounds } from "../../src/kernel/bounds.ts";

type Vars = Record<string, unknown>;

const read = (vars: Vars): Config => readConfig(vars as unknown as Env);
const bytes = (text: string) => new TextEncoder().encode(text);

const secret = "a-secret-that-is-32-bytes-long-!";
const otherSecret = "another-secret-of-enough-bytes-to-pass";
const jwks = "https://id.example/keys";

const names = [
  "JWT_SECRET",
  "JWKS_URL",
  "PUBLIC_URL",
  "CORS_ORIGINS",
  "JWT_ISSUER",
  "JWT_AUDIENCE",
  "AUTHORIZATION_SERVERS",
  "SIGNING_SECRET",
  "MCP_ORIGINS",
  "MCP_HOSTS",
  "DEFAULT_ORIGIN",
  "CLIENT_ADDRESS",
  "READ_LIMIT",
  "WRITE_LIMIT",
  "SEARCH_LIMIT",
  "NEGOTIATE_LIMIT",
  "ANONYMOUS_NEGOTIATE_LIMIT",
  "WORK_LIMIT",
  "REQUIRE_NEGOTIATION",
  "SESSION_REQUIREMENTS",
  "REQUIRED_CAPABILITIES",
  "ADVERTISE_INDEX",
  "CACHE_MB",
  "DIRECTORY_MB",
  "SLOW_MS",
  "DISCARD_REFUSED_BODIES",
  "ALLOW_LOOPBACK_FETCH",
  "BOUNDS",
  "SOURCE_CREDENTIALS",
];

const defaults: Config = {
  issuer: "rollcall",
  audience: "rollcall",
  tokenKeys: undefined,
  authorizationServers: [],
  publicUrl: undefined,
  signingSecret: undefined,
  corsOrigins: "*",
  mcpOrigins: [],
  mcpHosts: undefined,
  defaultOrigin: "",
  clientAddressHeader: "CF-Connecting-IP",
  readLimit: { rate: 1_000, burst: 2_000 },
  writeLimit: { rate: 100, burst: 1_000 },
  searchLimit: { rate: 50, burst: 400 },
  negotiateLimit: { rate: 20, burst: 200 },
  anonymousNegotiateLimit: { network: { rate: 0.5, burst: 30 }, anHour: 10_000 },
  workLimit: {
    bytes: { rate: (64 * 1_048_576) / 60, burst: 64 * 1_048_576 },
    items: { rate: 50_000 / 60, burst: 50_000 },
  },
  requireNegotiation: false,
  // No path starts with both prefixes, so their order does not matter.
  sessionRequirements: expect.arrayContaining([
    { prefix: "/mcp/tool/", capabilities: ["sampling"] },
    { prefix: "/mcp/subscription/", capabilities: ["notifications"] },
  ]),
  requiredCapabilities: [],
  advertisedIndex: { summary: false, full: false, stats: false },
  cacheBytes: 24 * 1024 * 1024,
  directoryBytes: 56 * 1024 * 1024,
  slowMs: 1_000,
  discardRefusedBodies: false,
  allowLoopbackFetch: false,
  sourceCredentials: new Map(),
  bounds: defaultBounds,
};

describe("every setting", () => {
  it("has one sentence that describes it", () => {
    expect(Object.keys(Settings.shape)).toEqual(names);
    for (const setting of Object.values(Settings.shape)) expect(setting.description).toMatch(/^[^.].*[^.]\.$/);
  });
});

describe("settings that are left out", () => {
  it("have defaults", () => {
    expect(read({})).toEqual(defaults);
    expect(Object.keys(read({})).sort()).toEqual(Object.keys(defaults).sort());
  });

  it.each(names.filter((name) => name !== "CORS_ORIGINS"))("are the same as an empty %s", (name) => {
    expect(read({ [name]: "" })).toEqual(defaults);
    expect(read({ [name]: undefined })).toEqual(defaults);
  });

  it("are not the same as an empty CORS_ORIGINS, which lets no page call", () => {
    expect(read({ CORS_ORIGINS: "" })).toEqual({ ...defaults, corsOrigins: [] });
    expect(read({ CORS_ORIGINS: undefined })).toEqual(defaults);
  });

  it("leave alone whatever else is in the environment", () => {
    expect(read({ REGISTRY: {}, OTHER: "x" })).toEqual(defaults);
  });
});

const acme = '{"acme": {"github": {"value": "Bearer abc", "origin": "https://mcp.example.com", "note": "ours"}}}';

const good: [vars: Vars, expected: Partial<Config>][] = [
  [{ JWT_ISSUER: "https://id.example" }, { issuer: "https://id.example", authorizationServers: [] }],
  [{ JWT_ISSUER: " " }, { issuer: " " }],
  [{ JWT_AUDIENCE: "api" }, { audience: "api" }],

  [{ JWT_SECRET: secret }, { tokenKeys: { kind: "secret", secret: bytes(secret) }, signingSecret: bytes(secret) }],
  [{ JWT_SECRET: "é".repeat(16) }, { signingSecret: bytes("é".repeat(16)) }],
  [{ SIGNING_SECRET: otherSecret }, { tokenKeys: undefined, signingSecret: bytes(otherSecret) }],
  [
    { JWT_SECRET: secret, SIGNING_SECRET: otherSecret },
    { tokenKeys: { kind: "secret", secret: bytes(secret) }, signingSecret: bytes(otherSecret) },
  ],
  [
    { JWT_SECRET: secret, SIGNING_SECRET: "" },
    { tokenKeys: { kind: "secret", secret: bytes(secret) }, signingSecret: bytes(secret) },
  ],
  [
    { JWT_SECRET: secret, JWKS_URL: jwks },
    { tokenKeys: { kind: "jwks", url: jwks }, signingSecret: bytes(secret) },
  ],

  [{ JWKS_URL: jwks }, { tokenKeys: { kind: "jwks", url: jwks }, authorizationServers: [] }],
  [{ JWKS_URL: "https://ID.example:443" }, { tokenKeys: { kind: "jwks", url: "https://id.example/" } }],
  [{ JWKS_URL: "http://localhost:8080/k" }, { tokenKeys: { kind: "jwks", url: "http://localhost:8080/k" } }],
  [{ JWKS_URL: "http://127.0.0.1/k" }, { tokenKeys: { kind: "jwks", url: "http://127.0.0.1/k" } }],
  [{ JWKS_URL: "http://[::1]:1/k" }, { tokenKeys: { kind: "jwks", url: "http://[::1]:1/k" } }],

  [{ JWKS_URL: jwks, JWT_ISSUER: "https://id.example" }, { authorizationServers: ["https://id.example"] }],
  [
    { JWKS_URL: jwks, JWT_ISSUER: "acme" },
    { issuer: "acme", authorizationServers: [] },
  ],
  [
    { JWKS_URL: jwks, JWT_ISSUER: "" },
    { issuer: "rollcall", authorizationServers: [] },
  ],
  [
    { JWKS_URL: jwks, JWT_ISSUER: "https://id.example", AUTHORIZATION_SERVERS: " , " },
    { authorizationServers: ["https://id.example"] },
  ],
  [
    {
      JWKS_URL: jwks,
      JWT_ISSUER: "https://id.example",
      AUTHORIZATION_SERVERS: "https://A.example , http://localhost:1/x",
    },
    { authorizationServers: ["https://A.example", "http://localhost:1/x"] },
  ],
  [
    { AUTHORIZATION_SERVERS: "https://a.example,,https://b.example," },
    { authorizationServers: ["https://a.example", "https://b.example"] },
  ],

  [
    { PUBLIC_URL: "https://registry.example" },
    {
      publicUrl: "https://registry.example",
      mcpOrigins: ["https://registry.example"],
      mcpHosts: ["registry.example", "localhost", "127.0.0.1", "[::1]"],
    },
  ],
  [{ PUBLIC_URL: "https://Registry.example:443/" }, { publicUrl: "https://registry.example" }],
  [
    { PUBLIC_URL: "http://localhost:8787" },
    { publicUrl: "http://localhost:8787", mcpHosts: ["localhost", "localhost", "127.0.0.1", "[::1]"] },
  ],

  [{ CORS_ORIGINS: "*" }, { corsOrigins: "*", mcpOrigins: [] }],
  [{ CORS_ORIGINS: " * " }, { corsOrigins: "*" }],
  [{ CORS_ORIGINS: " " }, { corsOrigins: [] }],
  [
    { CORS_ORIGINS: "*, https://a.test" },
    { corsOrigins: ["*", "https://a.test"], mcpOrigins: ["*", "https://a.test"] },
  ],
  [
    { CORS_ORIGINS: "https://a.test, https://b.test" },
    { corsOrigins: ["https://a.test", "https://b.test"], mcpOrigins: ["https://a.test", "https://b.test"] },
  ],

  [{ MCP_ORIGINS: "*" }, { mcpOrigins: "*", corsOrigins: "*" }],
  [{ MCP_ORIGINS: " * ", CORS_ORIGINS: "https://a.test", PUBLIC_URL: "https://r.test" }, { mcpOrigins: "*" }],
  [{ MCP_ORIGINS: "https://m.test ,https://n.test" }, { mcpOrigins: ["https://m.test", "https://n.test"] }],
  [
    { MCP_ORIGINS: "https://m.test", CORS_ORIGINS: "https://a.test", PUBLIC_URL: "https://r.test/" },
    { mcpOrigins: ["https://m.test", "https://a.test", "https://r.test"] },
  ],

  [{ MCP_HOSTS: "Registry.example, [::1] ,10.0.0.1" }, { mcpHosts: ["registry.example", "[::1]", "10.0.0.1"] }],
  [{ MCP_HOSTS: "registry.example" }, { defaultOrigin: "https://registry.example" }],
  [{ MCP_HOSTS: "a.example", DEFAULT_ORIGIN: "http://10.0.0.1:8787" }, { defaultOrigin: "http://10.0.0.1:8787" }],
  [{ CLIENT_ADDRESS: "X-Real-IP" }, { clientAddressHeader: "X-Real-IP" }],
  [{ CLIENT_ADDRESS: "socket" }, { clientAddressHeader: undefined }],
  [{ MCP_HOSTS: "registry.example:80" }, { mcpHosts: ["registry.example"] }],
  [{ MCP_HOSTS: "registry.example/" }, { mcpHosts: ["registry.example"] }],
  [{ MCP_HOSTS: "m.example", PUBLIC_URL: "https://r.example" }, { mcpHosts: ["m.example"] }],
  [{ MCP_HOSTS: ",", PUBLIC_URL: "https://r.example" }, { mcpHosts: ["r.example", "localhost", "127.0.0.1", "[::1]"] }],

  [{ READ_LIMIT: "5/7" }, { readLimit: { rate: 5, burst: 7 } }],
  [{ WRITE_LIMIT: "001/100000" }, { writeLimit: { rate: 1, burst: 100_000 } }],
  [{ NEGOTIATE_LIMIT: "10/1" }, { negotiateLimit: { rate: 10, burst: 1 } }],

  [
    { WORK_LIMIT: "1/60" },
    { workLimit: { bytes: { rate: 1_048_576 / 60, burst: 1_048_576 }, items: { rate: 1, burst: 60 } } },
  ],
  [
    { BOUNDS: '{"manifestBytes": 16777216, "configBytes": 1024}' },
    {
      bounds: { ...defaultBounds, manifestBytes: 16_777_216, eventBytes: 16_777_216 + 65_536, configBytes: 1_024 },
    },
  ],

  [{ REQUIRE_NEGOTIATION: "true" }, { requireNegotiation: true }],
  [{ REQUIRE_NEGOTIATION: "false" }, { requireNegotiation: false }],
  [{ DISCARD_REFUSED_BODIES: "true" }, { discardRefusedBodies: true }],
  [{ ALLOW_LOOPBACK_FETCH: "true" }, { allowLoopbackFetch: true }],
  [{ ALLOW_LOOPBACK_FETCH: "false" }, { allowLoopbackFetch: false }],

  [{ SESSION_REQUIREMENTS: "{}" }, { sessionRequirements: [] }],
  [
    { SESSION_REQUIREMENTS: ' {"/mcp/": ["a", "b"], "/mcp/tool/": [], "/mcp/tool/x": ["c"], "/mcp/zzzz/": ["d"]} ' },
    {
      sessionRequirements: [
        { prefix: "/mcp/tool/x", capabilities: ["c"] },
        { prefix: "/mcp/tool/", capabilities: [] },
        { prefix: "/mcp/zzzz/", capabilities: ["d"] },
        { prefix: "/mcp/", capabilities: ["a", "b"] },
      ],
    },
  ],
  [
    { SESSION_REQUIREMENTS: '{"/mcp/a": ["x"], "/mcp/a": ["y"]}' },
    { sessionRequirements: [{ prefix: "/mcp/a", capabilities: ["y"] }] },
  ],

  [{ REQUIRED_CAPABILITIES: " sampling,, roots ," }, { requiredCapabilities: ["sampling", "roots"] }],

  [{ ADVERTISE_INDEX: "summary" }, { advertisedIndex: { summary: true, full: false, stats: false } }],
  [{ ADVERTISE_INDEX: "stats, full,stats" }, { advertisedIndex: { summary: false, full: true, stats: true } }],
  [{ ADVERTISE_INDEX: "," }, { advertisedIndex: { summary: false, full: false, stats: false } }],

  [{ CACHE_MB: "" }, { cacheBytes: 24 * 1024 * 1024 }],
  [{ CACHE_MB: "1" }, { cacheBytes: 1024 * 1024 }],
  [{ CACHE_MB: 64 }, { cacheBytes: 64 * 1024 * 1024 }],
  [{ DIRECTORY_MB: "0" }, { directoryBytes: 0 }],

  [{ SLOW_MS: "250" }, { slowMs: 250 }],
  [{ SLOW_MS: "0" }, { slowMs: 0 }],
  [{ SLOW_MS: " 1e3 " }, { slowMs: 1_000 }],
  [{ SLOW_MS: "0.5" }, { slowMs: 0.5 }],
  // wrangler.toml can hold a number.
  [{ SLOW_MS: 250 }, { slowMs: 250 }],
  [{ SLOW_MS: 0 }, { slowMs: 0 }],

  [{ SOURCE_CREDENTIALS: "{}" }, { sourceCredentials: new Map() }],
  [{ SOURCE_CREDENTIALS: '{"acme": {}}' }, { sourceCredentials: new Map([["acme", new Map()]]) }],
  [{ SOURCE_CREDENTIALS: '{"Acme": {}}' }, { sourceCredentials: new Map([["acme", new Map()]]) }],
  [
    { SOURCE_CREDENTIALS: acme },
    {
      sourceCredentials: new Map([
        ["acme", new Map([["github", { value: "Bearer abc", origin: "https://mcp.example.com" }]])],
      ]),
    },
  ],
  [
    { SOURCE_CREDENTIALS: '{"constructor": {"toString": {"value": "", "origin": "http://localhost:1"}}}' },
    {
      sourceCredentials: new Map([
        ["constructor", new Map([["toString", { value: "", origin: "http://localhost:1" }]])],
      ]),
    },
  ],
];

describe("a setting that can be read", () => {
  it.each(good.map(([vars, expected]) => [JSON.stringify(vars), vars, expected] as const))(
    "%s",
    (_, vars, expected) => {
      const config = read(vars);
      for (const [key, value] of Object.entries(expected))
        expect([key, config[key as keyof Config]]).toEqual([key, value]);
    },
  );

  it("changes no other setting", () => {
    const { readLimit, ...rest } = read({ READ_LIMIT: "5/7" });
    const { readLimit: _, ...unchanged } = defaults;
    expect([readLimit, rest]).toEqual([{ rate: 5, burst: 7 }, unchanged]);
  });

  it("is read once for an environment", () => {
    const env = { READ_LIMIT: "5/7" };
    expect(read(env)).toBe(read(env));
    expect(read(env)).not.toBe(read({ ...env }));
  });
});

const secretForm = "must be at least 32 bytes";
const urlForm = "must be an https URL";
const originForm = "must be an origin such as https://registry.example.com, without a path";
const hostsForm = "must be a list of host names, without ports";
const workForm = 'must be "MiB/items", such as 64/50000';
const boundsForm =
  'must be JSON such as {"manifestBytes": 12582912}: whole bytes from 1024, configBytes and capabilityBytes up to 1 MiB, manifestBytes up to 16, importBytes up to 32';
const limitForm = 'must be "rate/burst", such as 100/1000';
const flagForm = "must be true or false";
const requirementsForm = 'must be JSON such as {"/mcp/tool/": ["sampling"]}';
const credentialsForm = 'must be JSON: tenant → name → {"value": "…", "origin": "https://…"}, each tenant once';

const bad: [names: string[], message: string, values: unknown[]][] = [
  [["JWT_SECRET", "SIGNING_SECRET"], secretForm, ["x", " ", "x".repeat(31), "é".repeat(15)]],
  [
    ["JWKS_URL", "PUBLIC_URL"],
    urlForm,
    [" ", "id.example", "http://id.example", "ftp://localhost", "http://127.0.0.2", "//id.example", "/keys", 5],
  ],
  [
    ["AUTHORIZATION_SERVERS"],
    urlForm,
    ["id.example", "http://id.example", "https://a.example, nothing", "https://a.example b.example"],
  ],
  [
    ["PUBLIC_URL"],
    originForm,
    [
      "https://registry.example/path",
      "https://registry.example//",
      "https://registry.example/?q",
      "https://registry.example/#x",
      "https://me@registry.example/",
    ],
  ],
  [
    ["MCP_HOSTS"],
    hostsForm,
    [
      "a.example:8080",
      "a.example/x",
      "me@a.example",
      "a.example?",
      "a.example#",
      "https://a.example",
      "a.example, b c",
    ],
  ],
  [
    ["READ_LIMIT", "WRITE_LIMIT", "SEARCH_LIMIT", "NEGOTIATE_LIMIT"],
    limitForm,
    ["many", "77", "0/7", "7/0", "00/7", "1/2/3", "-1/5", "1.5/5", " 1/2", "1/2\n", "/", "1/", 77],
  ],
  [["ANONYMOUS_NEGOTIATE_LIMIT"], 'must be "a minute/an hour", such as 30/10000', ["30", "0/7", "7/0", "1.5/5", 64]],
  [["WORK_LIMIT"], workForm, ["64", "0/7", "7/0", "1.5/5", "/", 64]],
  [
    ["BOUNDS"],
    boundsForm,
    [
      "[]",
      "1",
      '{"depth": 100}',
      '{"manifestBytes": 16777217}',
      '{"configBytes": 1023}',
      '{"importBytes": "1 MiB"}',
      '{"importBytes": 2048.5}',
    ],
  ],
  [["REQUIRE_NEGOTIATION", "ALLOW_LOOPBACK_FETCH"], flagForm, ["yes", "1", "TRUE", "False", " true", true]],
  [
    ["SESSION_REQUIREMENTS"],
    requirementsForm,
    [
      " ",
      "sampling",
      "null",
      "[]",
      '"x"',
      "1",
      '{"/mcp/tool/": "sampling"}',
      '{"/mcp/tool/": [1]}',
      '{"/mcp/tool/": null}',
      '{"/api/": ["sampling"]}',
      '{"/mcp": []}',
      '{"": []}',
      '{"__proto__": []}',
      '{"/mcp/tool/": ["sampling"]',
      { "/mcp/tool/": ["sampling"] },
    ],
  ],
  [["ADVERTISE_INDEX"], "must be a list of summary, full, stats", ["all", "summary, all", "Summary", "toString"]],
  [
    ["CACHE_MB"],
    "must be a number from 1 to 64",
    ["much", "0", "0.5", "65", "-24", "NaN", "24 MB", "0x10", true, [24]],
  ],
  [["DIRECTORY_MB"], "must be a number from 0 to 80", ["much", "81", "-1", "NaN", "56 MB", true]],
  [["SLOW_MS"], "must be a number", ["soon", "-1", "Infinity", "NaN", "1s", "1,000", -1]],
  [
    ["SOURCE_CREDENTIALS"],
    credentialsForm,
    [
      " ",
      "hidden",
      '{"hidden',
      "null",
      "[]",
      '"hidden"',
      '{"acme": "hidden"}',
      '{"acme": []}',
      '{"acme": null}',
      '{"acme": {}, "Acme": {}}',
      '{"acme": {"hidden": "hidden"}}',
      '{"acme": {"hidden": null}}',
      '{"acme": {"hidden": []}}',
      '{"acme": {"hidden": {"value": "hidden"}}}',
      '{"acme": {"hidden": {"origin": "https://hidden.example"}}}',
      '{"acme": {"hidden": {"value": 1, "origin": "https://hidden.example"}}}',
      '{"acme": {"hidden": {"value": "hidden", "origin": 1}}}',
      '{"acme": {"hidden": {"value": "hidden", "origin": "hidden.example"}}}',
      '{"acme": {"hidden": {"value": "hidden", "origin": "https://hidden.example/"}}}',
      '{"acme": {"hidden": {"value": "hidden", "origin": "https://hidden.example/path"}}}',
      '{"acme": {"hidden": {"value": "hidden", "origin": "data:hidden"}}}',
    ],
  ],
];

function failure(vars: Vars): Error {
  try {
    read(vars);
  } catch (error) {
    return error as Error;
  }
  throw new Error("was read");
}

describe("a setting that cannot be read", () => {
  const cases = bad.flatMap(([of, message, values]) =>
    of.flatMap((name) => values.map((value) => [name, value, `${name} ${message}`] as const)),
  );

  it.each(cases)("%s = %j", (name, value, message) => {
    const error = failure({ [name]: value });
    expect(error).toBeInstanceOf(ConfigError);
    expect(error.message).toBe(message);
    expect(error.cause).toBeUndefined();
  });

  it("is told, not remembered", () => {
    const env: Vars = { SLOW_MS: "soon" };
    expect(failure(env).message).toBe("SLOW_MS must be a number");
    env["SLOW_MS"] = "5";
    expect(read(env).slowMs).toBe(5);
  });

  it("is told even where another setting takes its place", () => {
    expect(failure({ JWT_SECRET: "short", JWKS_URL: jwks }).message).toBe(`JWT_SECRET ${secretForm}`);
    expect(failure({ JWT_SECRET: secret, SIGNING_SECRET: "short" }).message).toBe(`SIGNING_SECRET ${secretForm}`);
  });

  it("is told one at a time, in the same order", () => {
    const env: Vars = Object.fromEntries(cases.map(([name, value]) => [name, value]));
    const told: string[] = [];
    while (Object.keys(env).length > 0) {
      const [name = ""] = failure(env).message.split(" ");
      told.push(name);
      delete env[name];
    }
    expect(told).toEqual(names.filter((name) => cases.some(([bad]) => bad === name)));
  });

  it.each(["JWT_SECRET", "SIGNING_SECRET", "SOURCE_CREDENTIALS"])("keeps the text of %s out of the error", (name) => {
    for (const text of ["hidden", ...cases.filter(([of]) => of === name).map(([, value]) => value)]) {
      const error = failure({ [name]: text });
      expect(JSON.stringify([error.message, error.stack, Object.entries(error)])).not.toContain("hidden");
    }
  });
});
