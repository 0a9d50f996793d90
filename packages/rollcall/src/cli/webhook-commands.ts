import { type CommandSpec, yes } from "./command-spec.ts";

const overlap = ["--overlap <seconds>", "how long the old secret is taken"] as const;

export const webhooks: CommandSpec[] = [
  {
    usage: "hooks",
    summary: "Inbound webhooks: publish without a login",
    example: "rollcall hooks add acme/weather",
    commands: [
      {
        usage: "list [tenant]",
        summary: "List the hooks of a tenant",
        example: "rollcall hooks list acme",
        run: async (context, args) => (await import("./commands/hooks.ts")).hooksList(context, args),
      },
      {
        usage: "add <T/NAME>",
        summary: "Make a hook; shows its secret once",
        options: [
          ["--description <text>", "what it is for"],
          ["--event <type...>", "events that it takes"],
        ],
        example: "rollcall hooks add acme/weather --description CI",
        run: async (...given) => (await import("./commands/hooks.ts")).hooksAdd(...given),
      },
      {
        usage: "show <T/ID>",
        summary: "Show a hook and what came lately",
        example: "rollcall hooks show acme/h_123",
        run: async (context, args) => (await import("./commands/hooks.ts")).hooksShow(context, args),
      },
      {
        usage: "rotate <T/ID>",
        summary: "Make a new secret",
        options: [overlap],
        example: "rollcall hooks rotate acme/h_123",
        run: async (...given) => (await import("./commands/hooks.ts")).hooksRotate(...given),
      },
      ...[true, false].map(
        (enabled): CommandSpec => ({
          usage: `${enabled ? "on" : "off"} <T/ID>`,
          summary: `Switch a hook ${enabled ? "on" : "off"}`,
          example: `rollcall hooks ${enabled ? "on" : "off"} acme/h_123`,
          run: async (context, [id = ""]) => (await import("./commands/hooks.ts")).hooksSwitch(context, id, enabled),
        }),
      ),
      {
        usage: "remove <T/ID>",
        summary: "Remove a hook",
        options: [yes],
        example: "rollcall hooks remove acme/h_123 --yes",
        run: async (...given) => (await import("./commands/hooks.ts")).hooksRemove(...given),
      },
      {
        usage: "send [file]",
        summary: "Sign and send an event",
        options: [
          ["--type <type>", "manifest.published (default), manifest.changed, …"],
          ["--status <s>", "for server.status"],
        ],
        example: "rollcall hooks send manifest.json",
        run: async (...given) => (await import("./commands/hooks.ts")).hooksSend(...given),
      },
    ],
  },
  {
    usage: "subscriptions",
    summary: "Outbound webhooks about changes",
    example: "rollcall subscriptions add acme https://ci.acme.dev/rollcall",
    commands: [
      {
        usage: "list [tenant]",
        summary: "List the subscriptions of a tenant",
        example: "rollcall subscriptions list acme",
        run: async (context, args) => (await import("./commands/hooks.ts")).subscriptionsList(context, args),
      },
      {
        usage: "add <tenant> <address>",
        summary: "Subscribe; shows the secret once",
        options: [
          ["--server <name...>", "only these servers"],
          ["--class <class...>", "only these classes"],
          ["--description <text>", "what it is for"],
        ],
        example: "rollcall subscriptions add acme https://ci.acme.dev/rollcall",
        run: async (...given) => (await import("./commands/hooks.ts")).subscriptionsAdd(...given),
      },
      {
        usage: "show <T/ID>",
        summary: "Show a subscription and its attempts",
        example: "rollcall subscriptions show acme/s_123",
        run: async (context, args) => (await import("./commands/hooks.ts")).subscriptionsShow(context, args),
      },
      {
        usage: "test <T/ID>",
        summary: "Deliver a test message",
        example: "rollcall subscriptions test acme/s_123",
        run: async (context, args) => (await import("./commands/hooks.ts")).subscriptionsTest(context, args),
      },
      {
        usage: "rotate <T/ID>",
        summary: "Make a new secret",
        options: [overlap],
        example: "rollcall subscriptions rotate acme/s_123",
        run: async (...given) => (await import("./commands/hooks.ts")).subscriptionsRotate(...given),
      },
      ...[false, true].map(
        (enabled): CommandSpec => ({
          usage: `${enabled ? "resume" : "pause"} <T/ID>`,
          summary: enabled ? "Deliver again" : "Stop delivering for now",
          example: `rollcall subscriptions ${enabled ? "resume" : "pause"} acme/s_123`,
          run: async (context, [id = ""]) =>
            (await import("./commands/hooks.ts")).subscriptionsSwitch(context, id, enabled),
        }),
      ),
      {
        usage: "remove <T/ID>",
        summary: "Remove a subscription",
        options: [yes],
        example: "rollcall subscriptions remove acme/s_123 --yes",
        run: async (...given) => (await import("./commands/hooks.ts")).subscriptionsRemove(...given),
      },
    ],
  },
];
