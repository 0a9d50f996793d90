import { describe, expect, it } from "vitest";
import { withoutUndefined } from "../../../src/kernel/json.ts";
import { insert } from "../../../src/kernel/platform/insert.ts";
import { byteLength, clip } from "../../../src/kernel/text.ts";
import { openLocalSql } from "../support/local-sql.ts";

describe("clip", () => {
  it.each([
    ["short", 5, "short"],
    ["longer", 5, "longe…"],
    ["abcd😀", 6, "abcd😀"],
    ["abcd😀e", 5, "abcd…"],
    ["", 0, ""],
  ])("%j to %i is %j", (text, most, expected) => {
    expect(clip(text, most)).toBe(expected);
    expect(clip(text, most).isWellFormed()).toBe(true);
  });
});

it("byteLength counts UTF-8", () => {
  expect([byteLength("a"), byteLength("é"), byteLength("😀")]).toEqual([1, 2, 4]);
});

it("withoutUndefined leaves out undefined alone, and keeps the order", () => {
  const left = withoutUndefined({ c: 1, b: undefined, a: null, d: 0, e: "" });
  expect(Object.entries(left)).toEqual([
    ["c", 1],
    ["a", null],
    ["d", 0],
    ["e", ""],
  ]);
});

describe("insert", () => {
  it("names columns by the row's keys, takes defaults, and does what is said on conflict", () => {
    const sql = openLocalSql(":memory:");
    sql.exec("CREATE TABLE one (id INTEGER PRIMARY KEY, text TEXT NOT NULL, more TEXT DEFAULT 'default')");
    insert(sql, "one", { id: 1, text: "a' --" });
    insert(sql, "one", { text: "b", id: 1 }, "ON CONFLICT (id) DO UPDATE SET text = excluded.text");
    expect(sql.exec("SELECT id, text, more FROM one").toArray()).toEqual([{ id: 1, text: "b", more: "default" }]);
    expect(() => insert(sql, "one", { id: 1, text: "c" })).toThrow(/UNIQUE/);
  });
});
