import { type CommandSpec, yes } from "./command-spec.ts";
import { webhooks } from "./webhook-commands.ts";

const dryRun = ["--dry-run", "show what would happen, change nothing"] as const;
const limit = ["--limit <n>", "how many at most"] as const;
const lock = ["--lock <file>", "another file than rollcall.lock.json"] as const;
const include = ["--include <what>", "also flagged,withdrawn items, which choices leave out"] as const;
const apis = ["--for <api>", "for a model: mcp, openai, openai-chat, anthropic"] as const;
const serverOptions = [
  ["--title <text>", "title"],
  ["--description <text>", "description"],
  ["--visibility <v>", "tenant or public"],
  ["--status <s>", "active, deprecated or withdrawn"],
  ["--status-message <text>", "why, and what to use instead"],
  ["--source <url...>", "MCP servers that the registry reads"],
] as const;

const account: CommandSpec[] = [
  {
    usage: "login [url]",
    summary: "Sign in to a registry",
    options: [
      ["--token-stdin", "read the token from stdin"],
      ["--data <dir>", "make a token for the server on this data folder"],
    ],
    example: "echo $TOKEN | rollcall login https://registry.acme.dev --token-stdin",
    run: async (...given) => (await import("./commands/sign-in.ts")).login(...given),
  },
  {
    usage: "logout",
    summary: "Remove the stored token",
    options: [["--all", "of every profile"]],
    example: "rollcall logout",
    run: async (...given) => (await import("./commands/sign-in.ts")).logout(...given),
  },
  {
    usage: "whoami",
    summary: "Show who you are to the registry",
    example: "rollcall whoami",
    run: async (context) => (await import("./commands/sign-in.ts")).whoami(context),
  },
  {
    usage: "doctor",
    summary: "Check everything that a command needs",
    example: "rollcall doctor",
    run: async (context) => (await import("./commands/doctor.ts")).doctor(context),
  },
];

const finding: CommandSpec[] = [
  {
    usage: "search <text...>",
    summary: "Find capabilities for a task",
    options: [
      ["--budget <n>", "tokens that the definitions may cost together"],
      ["--kind <kind...>", "tool, prompt, resource, resourceTemplate, …"],
      ["--provider <provider...>", "mcp, openapi, graphql, …"],
      ["--category <category...>", "of these categories"],
      ["--permission <permission...>", "that need one of these permissions"],
      ["--effect <effect...>", "that have one of these effects"],
      ["--type <type...>", "of these capability types"],
      ["--status <status...>", "active, deprecated or withdrawn"],
      ["--prefix", "the last word may be unfinished"],
      ["--facets", "count what else the matches can be filtered by"],
      apis,
      include,
      limit,
      ["--why", "say why each was found"],
    ],
    example: "rollcall search will it rain tomorrow --budget 500",
    run: async (...given) => (await import("./commands/search.ts")).search(...given),
  },
  {
    usage: "list",
    summary: "List servers",
    options: [
      ["--kind <kind>", "with items of this kind"],
      ["--category <category>", "of this category"],
      ["--status <status>", "active, deprecated or withdrawn"],
      ["--updated-since <when>", "changed since, such as 2026-11-01T00:00:00Z"],
      limit,
      ["--all", "every page"],
    ],
    example: "rollcall list --tenant acme",
    run: async (...given) => (await import("./commands/list.ts")).list(...given),
  },
  {
    usage: "show <T/NAME[@DIGEST]> [item]",
    summary: "Show a server or one of its items",
    options: [
      ["--costs", "the costliest items first"],
      ["--schema", "the input schema of the item"],
      ["--format <f>", "json, yaml, rtfs, mcp, openai, openai-chat, anthropic"],
    ],
    example: "rollcall show acme/weather get_forecast",
    run: async (...given) => (await import("./commands/show.ts")).show(...given),
  },
  {
    usage: "negotiate",
    summary: "Let the registry choose for a task and a budget",
    options: [
      ["--task <text>", "what the agent is about to do"],
      ["--budget <n>", "tokens that the definitions may cost (2000)"],
      ["--must <id[@range]...>", "capabilities that must be there"],
      ["--pins", "leave out what is not as in rollcall.lock.json"],
      apis,
      include,
    ],
    example: 'rollcall negotiate --task "plan a trip" --budget 1000',
    run: async (...given) => (await import("./commands/choose.ts")).negotiate(...given),
  },
  {
    usage: "index <T[/NAME]> [variant]",
    summary: "Print an index: summary, full or stats",
    options: [
      ["--task <text>", "the index that fits a task"],
      ["--budget <n>", "tokens that its text may have"],
    ],
    example: "rollcall index acme --task weather --budget 300",
    run: async (...given) => (await import("./commands/choose.ts")).index(...given),
  },
  {
    usage: "flags",
    summary: "List what is flagged in your tenants",
    example: "rollcall flags --tenant acme",
    run: async (...given) => (await import("./commands/flags.ts")).flags(...given),
  },
];

const publishing: CommandSpec[] = [
  {
    usage: "publish <T/NAME> [place]",
    summary: "Publish a file, a URL, or a command after --",
    options: [
      dryRun,
      ["--partial", "leave out items that are not valid"],
      ["--visibility <v>", "tenant or public"],
      ["--as-source", "let the registry read the URL itself"],
      ["--hook", "sign with ROLLCALL_HOOK_URL and _SECRET, no login"],
      ["--fail-on <class>", "publish nothing if cosmetic, additive, breaking or flagged"],
      ["--if-match <digest>", "publish only over this revision"],
      ["--yes", "also if it removes over half of the server"],
    ],
    example: "rollcall publish acme/weather -- node server.js",
    run: async (...given) => (await import("./commands/publish.ts")).publish(...given),
  },
  {
    usage: "import <format> <file> <T/NAME>",
    summary: "Publish an rtfs, openapi, graphql or mcp document",
    options: [dryRun],
    example: "rollcall import openapi petstore.yaml acme/pets --dry-run",
    run: async (...given) => (await import("./commands/import.ts")).importFile(...given),
  },
  {
    usage: "init",
    summary: "Write a manifest to start from",
    options: [["--from <file>", "take name and version from a package.json"]],
    example: "rollcall init --from package.json",
    run: async (...given) => (await import("./commands/import.ts")).init(...given),
  },
  {
    usage: "validate <file>",
    summary: "Check a manifest here, without a registry",
    example: "rollcall validate rollcall.manifest.json",
    run: async (context, args) => (await import("./commands/validate.ts")).validate(context, args),
  },
  {
    usage: "server",
    summary: "Manage servers",
    example: "rollcall server edit acme/weather --visibility public",
    commands: [
      {
        usage: "create <T/NAME>",
        summary: "Register a server",
        options: serverOptions,
        example: "rollcall server create acme/weather --visibility public",
        run: async (...given) => (await import("./commands/server.ts")).serverCreate(...given),
      },
      {
        usage: "edit <T/NAME>",
        summary: "Change its settings",
        options: serverOptions,
        example: "rollcall server edit acme/old --status deprecated",
        run: async (...given) => (await import("./commands/server.ts")).serverEdit(...given),
      },
      {
        usage: "delete <T/NAME>",
        summary: "Delete it with its history",
        options: [yes],
        example: "rollcall server delete acme/old --yes",
        run: async (...given) => (await import("./commands/server.ts")).serverDelete(...given),
      },
      {
        usage: "refresh <T/NAME>",
        summary: "Let the registry read its sources now",
        example: "rollcall server refresh acme/weather",
        run: async (context, args) => (await import("./commands/server.ts")).serverRefresh(context, args),
      },
      ...[true, false].map(
        (enabled): CommandSpec => ({
          usage: `${enabled ? "on" : "off"} <T/NAME> [item]`,
          summary: `Switch an item, or all items, ${enabled ? "on" : "off"}`,
          example: `rollcall server ${enabled ? "on" : "off"} acme/weather get_forecast`,
          run: async (context, args) => (await import("./commands/server.ts")).serverSwitch(context, args, enabled),
        }),
      ),
    ],
  },
];

const reviewing: CommandSpec[] = [
  {
    usage: "history <T/NAME>",
    summary: "List the revisions of a server",
    options: [limit],
    example: "rollcall history acme/weather",
    run: async (...given) => (await import("./commands/history.ts")).history(...given),
  },
  {
    usage: "diff <T/NAME> [from] [to]",
    summary: "Compare two revisions",
    options: [["--exit-code", "exit with 3 if there are changes"]],
    example: "rollcall diff acme/weather previous current",
    run: async (...given) => (await import("./commands/history.ts")).diff(...given),
  },
  {
    usage: "restore-revision <T/NAME> <digest>",
    summary: "Make an earlier revision current",
    options: [dryRun, ["--partial", "leave out what can no longer be published"], yes],
    example: "rollcall restore-revision acme/weather previous --dry-run",
    run: async (...given) => (await import("./commands/history.ts")).restoreRevision(...given),
  },
  {
    usage: "pin [T/NAME...]",
    summary: "Write what you reviewed to rollcall.lock.json",
    options: [
      ["--only <item...>", "these items alone"],
      ["--update", "take what is there now; shows what changed"],
      lock,
      ["--yes", "also with high flags"],
    ],
    example: "rollcall pin acme/weather",
    run: async (...given) => (await import("./commands/pin.ts")).pin(...given),
  },
  {
    usage: "verify [T/NAME...]",
    summary: "Compare the lock file with what is there",
    options: [
      ["--allow <classes>", "changes that pass, such as cosmetic,additive"],
      ["--strict", "new items fail, too"],
      ["--recompute", "hash the content here, do not believe the registry"],
      ["--format <f>", "text, json or github"],
      ["--offline-ok", "pass with a warning if it cannot be checked"],
      lock,
    ],
    example: "rollcall verify acme/weather -- node server.js",
    run: async (...given) => (await import("./commands/verify.ts")).verify(...given),
  },
  {
    usage: "watch [places...]",
    summary: "Follow changes of tenants or servers",
    options: [
      ["--class <class...>", "breaking, additive, cosmetic, removed, advisory"],
      ["--since <n>", "from this entry of the log on"],
    ],
    example: "rollcall watch acme --class breaking",
    run: async (...given) => (await import("./commands/watch.ts")).watch(...given),
  },
];

const connecting: CommandSpec[] = [
  {
    usage: "config <client> [T/NAME]",
    summary: "Show or write how a client connects",
    options: [
      ["--write", "into the client's file; comments stay, one backup"],
      ["--remove", "out of the client's file"],
      ["--name <name>", "what the server is called in the client"],
      ["--way <id>", "another address or package of the server, such as package-0"],
      ["--set <id=value...>", "an input of the server; ID alone asks for an optional secret"],
      ["--file <path>", "another file than the client's own"],
    ],
    example: "rollcall config vscode acme/weather --write",
    run: async (...given) => (await import("./commands/config.ts")).config(...given),
  },
  {
    usage: "mcp",
    summary: "Be an MCP server on stdio that forwards to the registry",
    example: "rollcall mcp --url https://registry.acme.dev",
    run: async (context) => (await import("./commands/mcp.ts")).mcp(context),
  },
];

const others: CommandSpec[] = [
  {
    usage: "api <method> <path>",
    summary: "Send any request with your login",
    options: [
      ["-d, --data <body>", "body; @FILE reads a file, - stdin"],
      ["--type <media>", "media type of the body"],
      ["-H, --header <line...>", "Name: value"],
    ],
    example: "rollcall api GET /api/whoami",
    run: async (...given) => (await import("./commands/api.ts")).api(...given),
  },
  {
    usage: "open [T/NAME]",
    summary: "Open the registry's page",
    example: "rollcall open acme/weather",
    run: async (context, args) => (await import("./commands/open.ts")).open(context, args),
  },
  {
    usage: "token",
    summary: "Make a token for a data folder (in a clone)",
    options: [
      ["--data <dir>", "data folder of the server"],
      ["--scope <scopes>", "such as registry:read"],
      ["--admin", "for every tenant"],
      ["--sub <subject>", "who it is for"],
      ["--ttl <seconds>", "how long it is valid"],
    ],
    example: "npm run rollcall -- token --data .rollcall --tenant acme",
    run: async (...given) => (await import("./commands/clone.ts")).token(...given),
  },
  {
    usage: "serve",
    summary: "Run a registry on this machine (in a clone)",
    options: [
      ["--port <port>", "port (8787)"],
      ["--data <dir>", "where its data is"],
      ["--no-demo", "without the demo servers"],
    ],
    example: "npm run rollcall -- serve --port 8787",
    run: async (...given) => (await import("./commands/clone.ts")).serve(...given),
  },
  {
    usage: "completion <shell>",
    summary: "Print a script for bash, zsh or fish",
    example: "source <(rollcall completion bash)",
    run: async (context, args) => (await import("./commands/completion.ts")).completion(context, args),
  },
];

/** Groups of the help, in the order in which a newcomer needs them. */
export const commandGroups: Record<string, CommandSpec[]> = {
  "Sign in:": account,
  "Find:": finding,
  "Publish:": publishing,
  "Review, pin and verify:": reviewing,
  "Connect clients:": connecting,
  "Webhooks:": webhooks,
  "Others:": others,
};
