import { describe, expect, it } from "vitest";
import { editJson } from "../../../packages/rollcall/src/cli/client-config/edit-json.ts";
import { editToml } from "../../../packages/rollcall/src/cli/client-config/edit-toml.ts";
import { differenceLines } from "../../../packages/rollcall/src/cli/client-config/file.ts";

const entry = { url: "https://registry.acme.dev/mcp" };
const edit = { member: "mcpServers", name: "rollcall", entry };
const text = (edited: ReturnType<typeof editJson>) => {
  if (!edited.ok) throw new Error(edited.message);
  return edited.text;
};

describe("a file of JSON", () => {
  const before = `// my servers
{
  /* the old one */
  "mcpServers": {
    "old": { "command": "old" }, // keep
  },
  "theme": "dark", // last
}
`;
  const after = `// my servers
{
  /* the old one */
  "mcpServers": {
    "rollcall": {
      "url": "https://registry.acme.dev/mcp"
    },
    "old": { "command": "old" }, // keep
  },
  "theme": "dark", // last
}
`;

  it("keeps comments, order and trailing commas", () => {
    const added = text(editJson(before, edit));
    expect(added).toBe(after);
    expect(text(editJson(added, edit))).toBe(added);
    expect(text(editJson(added, { ...edit, entry: undefined }))).toBe(before);
  });

  it("writes only the members of its entry that differ, and leaves comments there", () => {
    const own = `{
  "mcpServers": {
    "rollcall": {
      // asked for by the team
      "url": "https://old.acme.dev/mcp", // moved soon
      "type": "http"
    }
  }
}
`;
    expect(text(editJson(own, edit))).toBe(`{
  "mcpServers": {
    "rollcall": {
      // asked for by the team
      "url": "https://registry.acme.dev/mcp" // moved soon
    }
  }
}
`);
  });

  it("goes without a comment of its neighbours, also as the last one", () => {
    const last = `{
  "mcpServers": {
    "old": { "command": "old" }, // about old, and commas
    /* before the last */
    "rollcall": { "url": "https://registry.acme.dev/mcp" }
    // at the end
  }
}
`;
    const gone = last.replace("}, // about", "} // about").replace(/ *"rollcall".*\n/, "");
    expect(text(editJson(last, { ...edit, entry: undefined }))).toBe(gone);
  });

  it("takes back what it added", () => {
    const plain = '{\n  "mcpServers": {\n    "old": {}\n  }\n}\n';
    const added = text(editJson(plain, edit));
    expect(text(editJson(added, { ...edit, entry: undefined }))).toBe(plain);
    expect(text(editJson(plain, { ...edit, entry: undefined }))).toBe(plain);
  });

  it.each([
    [
      "empty",
      "",
      '{\n  "mcpServers": {\n    "rollcall": {\n      "url": "https://registry.acme.dev/mcp"\n    }\n  }\n}\n',
    ],
    [
      "tabs",
      '{\n\t"a": 1\n}\n',
      '{\n\t"a": 1,\n\t"mcpServers": {\n\t\t"rollcall": {\n\t\t\t"url": "https://registry.acme.dev/mcp"\n\t\t}\n\t}\n}\n',
    ],
    [
      "CRLF and a byte order mark",
      '\uFEFF{\r\n  "a": 1\r\n}\r\n',
      '\uFEFF{\r\n  "a": 1,\r\n  "mcpServers": {\r\n    "rollcall": {\r\n      "url": "https://registry.acme.dev/mcp"\r\n    }\r\n  }\r\n}\r\n',
    ],
  ])("%s", (_what, given, expected) => {
    expect(text(editJson(given, edit))).toBe(expected);
  });

  it.each([
    ["no JSON", '{\n  "a": 1\n  "b": 2\n}', "it is not JSON: comma expected", 3],
    ["cut off", '{\n  "a": {', "it is not JSON", 2],
    ["a list", "[1]", "it is not an object", 1],
    ["servers as a list", '{\n "mcpServers": []\n}', '"mcpServers" is not an object', 2],
    ["servers twice", '{\n "mcpServers": {},\n "mcpServers": {}\n}', '"mcpServers" stands there twice', 3],
    [
      "two servers of the name",
      '{"mcpServers": {\n"rollcall": {},\n"rollcall": {}}}',
      '"rollcall" stands there twice',
      3,
    ],
    ["prompts that are none", '{"inputs": {}}', '"inputs" is not a list', 1],
  ])("%s: the line is named", (_what, given, message, line) => {
    expect(editJson(given, edit)).toMatchObject({ ok: false, message: expect.stringContaining(message), line });
  });

  it("prompts are added once, and go with their server", () => {
    const prompts = [{ type: "promptString", id: "rollcall-token", password: true }];
    const asking = {
      member: "servers",
      name: "rollcall",
      entry: { url: "x", headers: { A: "${" + "input:rollcall-token}" } },
      prompts,
    };
    const given = '{\n  "servers": {},\n  "inputs": [\n    {"id": "mine"}\n  ]\n}\n';
    const added = text(editJson(given, asking));
    expect(JSON.parse(added).inputs).toEqual([{ id: "mine" }, ...prompts]);
    expect(text(editJson(added, asking))).toBe(added);
    expect(JSON.parse(text(editJson(added, { ...asking, entry: undefined, prompts: undefined })))).toEqual(
      JSON.parse(given),
    );
  });
});

describe("a file of TOML", () => {
  const toml = { member: "mcp_servers", name: "rollcall", entry };
  const snippet = '[mcp_servers.rollcall]\nurl = "https://registry.acme.dev/mcp"';
  const given = `# my settings
model = "gpt" # the model

[mcp_servers.old]
command = "old"

# for the next table
[profiles.a]
x = 1
`;

  it("adds, changes and removes a table; comments stay", () => {
    const added = text(editToml(given, toml, snippet));
    expect(added).toBe(`${given}\n${snippet}\n`);
    expect(text(editToml(added, toml, snippet))).toBe(added);
    const other = { ...toml, name: "old", entry: { url: "https://new.dev" } };
    const changed = text(editToml(given, other, '[mcp_servers.old]\nurl = "https://new.dev"'));
    expect(changed).toBe(given.replace('command = "old"', 'url = "https://new.dev"'));
    expect(text(editToml(given, { ...other, entry: undefined }, ""))).toBe(
      given.replace('[mcp_servers.old]\ncommand = "old"\n', ""),
    );
  });

  it("tables below it go with it; CRLF stays", () => {
    const nested = '[mcp_servers.rollcall]\r\ncommand = "x"\r\n[mcp_servers.rollcall.env]\r\nA = "1"\r\n[other]\r\n';
    expect(text(editToml(nested, toml, snippet))).toBe(`${snippet.replace("\n", "\r\n")}\r\n[other]\r\n`);
  });

  it.each([
    ["no TOML", "a = 1\nb = = 2\n", "it is not TOML", 2],
    ["servers in one line", 'mcp_servers = { rollcall = { command = "x" } }\n', "only you can change", undefined],
  ])("%s: nothing is written", (_what, text, message, line) => {
    expect(editToml(text, toml, snippet)).toMatchObject({
      ok: false,
      message: expect.stringContaining(message),
      ...(line && { line }),
    });
  });
});

it("the difference has no secret that somebody typed", () => {
  const before = '{\n "Authorization": "Bearer abc.def",\n "API_KEY": "s3cret",\n "url": "x"\n}';
  const reference = `\${input:token}`;
  const after = `{\n "Authorization": "Bearer ${reference}",\n "url": "x"\n}`;
  expect(differenceLines(before, after)).toEqual([
    '-  "Authorization": "Bearer …",',
    '-  "API_KEY": "…",',
    `+  "Authorization": "Bearer ${reference}",`,
  ]);
});

it("the difference has the lines that changed", () => {
  expect(differenceLines("a\nb\nc\n", "a\nx\nc\n")).toEqual(["- b", "+ x"]);
  expect(differenceLines("", "a\n")).toEqual(["+ a"]);
  // What stands between two changes may be another server's secret.
  expect(differenceLines("{\na\nsecret\nb\n}", "{\na,\nsecret\nb,\n}")).toEqual(["- a", "- b", "+ a,", "+ b,"]);
});
