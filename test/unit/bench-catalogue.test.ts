import { describe, expect, it } from "vitest";
import { catalogueOf } from "../../bench/corpus/catalogue.ts";
import type { RealServer } from "../../bench/corpus/server.ts";

const real: RealServer[] = ["mail", "files", "weather"].map((subject, at) => ({
  identifier: `acme/${subject}`,
  title: `Acme ${subject}`,
  categories: at === 0 ? [] : ["Business"],
  tools: ["list", "send", "list"].map((verb, place) => ({
    name: `${verb}_${subject}`,
    description: `Use Acme to ${verb} every ${subject} number ${place} that somebody has stored there.`,
    inputSchema: { type: "object", properties: { [subject]: { type: "string" }, limit: { type: "integer" } } },
  })),
}));
const of = (capabilities: number) => [...catalogueOf(real, capabilities)];
const toolsIn = (capabilities: number) => of(capabilities).flatMap(({ tools }) => tools);

describe("a catalogue of any size", () => {
  it("has the real servers first, each tool once", () => {
    expect(of(4).map(({ title }) => title)).toEqual(["Acme mail", "Acme files"]);
    expect(toolsIn(4).map(({ description }) => description?.includes("number 2"))).not.toContain(true);
  });

  it("is as large as asked, and not by a server too many", () => {
    const servers = of(500);
    expect(toolsIn(500).length).toBeGreaterThanOrEqual(500);
    expect(servers.slice(0, -1).flatMap(({ tools }) => tools).length).toBeLessThan(500);
  });

  it("is the same every time, and the beginning of a larger one", () => {
    expect(of(300)).toEqual(of(300));
    expect(of(600).slice(0, of(300).length)).toEqual(of(300));
  });

  it("has places that a registry takes, none twice", () => {
    const servers = of(1_000);
    expect(new Set(servers.map(({ tenant, name }) => `${tenant}/${name}`)).size).toBe(servers.length);
    for (const { tenant, name } of servers) {
      expect(tenant).toMatch(/^[a-z0-9][a-z0-9.-]{0,99}$/);
      expect(name).toMatch(/^[a-z0-9][a-z0-9-]{0,99}$/);
    }
  });

  it("brings new words and keeps the common ones common", () => {
    const wordsOf = (tools: ReturnType<typeof toolsIn>) =>
      tools.flatMap(({ description = "" }) => description.toLowerCase().match(/[a-z]+/g) ?? []);
    const share = (words: string[]) => words.filter((word) => word === "every").length / words.length;
    const [few, many] = [wordsOf(toolsIn(6)), wordsOf(toolsIn(2_000))];
    expect(new Set(many).size).toBeGreaterThan(2 * new Set(few).size);
    expect(share(many) / share(few)).toBeGreaterThan(0.3);
  });
});
