import { expect, it } from "vitest";
import { validItems } from "../../../src/sources/mcp-items.ts";

it("leaves out an item with a key that may have been misread", () => {
  const tool = (key: string) => ({ name: "t", inputSchema: { type: "object", properties: { a: {}, [key]: {} } } });
  const { sound, faults } = validItems("tools", "2025-streamable", [tool("b"), tool("\\"), tool('"')], 1);
  expect(sound).toEqual([tool("b"), tool('"')]);
  expect(faults).toEqual(["item 2 was left out: it has a key with a backslash, which this runtime may misread"]);
});
