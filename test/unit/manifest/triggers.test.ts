import { describe, expect, it } from "vitest";
import { triggersWithoutElement } from "../../../src/manifest/triggers.ts";

const items = [{ key: "send", id: "mcp.s.send" }];
const paths = (header: Record<string, unknown>) => triggersWithoutElement(header, items).map(({ path }) => path);

describe("a declared trigger", () => {
  it.each([
    [{}, []],
    [{ actionTriggers: { mail: ["send", "mcp.s.send"] } }, []],
    [{ actionTriggers: { mail: ["send", "post"] } }, ["/actionTriggers/mail/1"]],
    [{ action_triggers: { "a/b": ["post"] } }, ["/action_triggers/a~1b/0"]],
    [{ actionTriggers: { mail: "post", write: [7, null] } }, []],
    [{ actionTriggers: ["post"] }, []],
    [{ actionTriggers: { __proto__: ["x"], constructor: ["send"] } }, []],
  ])("of %j is reported where its element is missing", (header, expected) => {
    expect(paths(header)).toEqual(expected);
  });

  it("is reported with the name, clipped", () => {
    const [issue] = triggersWithoutElement({ actionTriggers: { mail: ["x".repeat(5_000)] } }, items);
    expect(issue?.message).toContain('names "xxx');
    expect(issue?.message.length).toBeLessThan(300);
  });
});
