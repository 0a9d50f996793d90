import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  compose,
  composeHeader,
  type IncomingItem,
  isSourceOrigin,
  type Origin,
  type Placement,
  type PresentItem,
} from "../../../src/manifest/compose.ts";
import type { CapabilityKind } from "../../../src/manifest/schema/capability.ts";

const present = (
  key: string,
  origin: Origin = "pushed",
  isOff = false,
  kind: CapabilityKind = "tool",
): PresentItem => ({
  ...{ kind, key, origin, isOff },
  digest: `${key}-1`,
});
const incoming = (
  key: string,
  origin: Origin = "pushed",
  version = 1,
  kind: CapabilityKind = "tool",
): IncomingItem => ({
  ...{ kind, key, origin },
  digest: `${key}-${version}`,
});

/** What is stored, as "key digest origin". */
function stored(before: PresentItem[], came: IncomingItem[], placement: Placement) {
  const { items, kept, refused } = compose(before, came, placement);
  return {
    items: items.map(({ item, origin }) => `${item.key} ${item.digest} ${origin}`),
    kept: kept.map(({ name, why }) => `${name} ${why}`),
    refused: refused.map(({ item, owner }) => `${item.key} ${owner}`),
  };
}

const push: Placement = { by: "push" };

describe("a push", () => {
  const server = [
    present("own"),
    present("off", "pushed", true),
    present("read", "source:a"),
    present("plug", "plugin", false, "generator"),
  ];

  it("replaces what was pushed, and keeps what was not and what is switched off", () => {
    expect(stored(server, [incoming("new")], push)).toEqual({
      items: ["off off-1 pushed", "read read-1 source:a", "new new-1 pushed", "plug plug-1 plugin"],
      kept: ["off disabled", "plug plugin"],
      refused: [],
    });
  });

  it("of somebody who saw the switched-off items removes them", () => {
    const { items, kept } = stored(server, [incoming("new")], { by: "push", includesDisabled: true });
    expect(items).toEqual(["read read-1 source:a", "new new-1 pushed", "plug plug-1 plugin"]);
    expect(kept).toEqual(["plug plugin"]);
  });

  it("of what an answer shows changes nothing, not even whose it is", () => {
    const shown = [incoming("own"), incoming("read"), incoming("plug", "pushed", 1, "generator")];
    expect(stored(server, shown, push).items).toEqual([
      ...["own own-1 pushed", "off off-1 pushed", "read read-1 source:a", "plug plug-1 plugin"],
    ]);
  });

  it("of other content under a source's name is refused by name, and the source's item stays", () => {
    const { items, refused } = stored(server, [incoming("read", "pushed", 2), incoming("own")], push);
    expect(refused).toEqual(["read source:a"]);
    expect(items).toContain("read read-1 source:a");
  });

  it("of a plugin's type takes its place", () => {
    const { items, kept } = stored(server, [incoming("plug", "pushed", 2, "generator")], push);
    expect(items).toContain("plug plug-2 pushed");
    expect(kept).toEqual(["off disabled"]);
  });

  it("that speaks of some sections touches only these", () => {
    const before = [present("t"), present("p", "pushed", false, "prompt")];
    expect(stored(before, [incoming("u")], { by: "push", sections: ["tools"] }).items).toEqual([
      ...["u u-1 pushed", "p p-1 pushed"],
    ]);
  });
});

describe("a reading of sources", () => {
  it("replaces what sources offered, and nothing else", () => {
    const server = [present("a", "source:x"), present("b", "source:y"), present("own"), present("off", "pushed", true)];
    const came = [incoming("a", "source:x", 2), incoming("c", "source:x")];
    expect(stored(server, came, { by: "sources", offers: ["x", "x"] })).toEqual({
      items: ["a a-2 source:x", "own own-1 pushed", "off off-1 pushed", "c c-1 source:x"],
      kept: [],
      refused: [],
    });
  });

  it("leaves out an item whose name is taken by other content", () => {
    const { items, refused } = stored([present("own")], [incoming("own", "source:x", 2)], {
      by: "sources",
      offers: ["x"],
    });
    expect({ items, refused }).toEqual({ items: ["own own-1 pushed"], refused: ["own pushed"] });
  });
});

describe("a plugin", () => {
  it("is added beside everything, or in the place of the one that it replaces", () => {
    const server = [
      present("t"),
      present("g", "pushed", false, "generator"),
      present("h", "pushed", false, "generator"),
    ];
    const plugin: Placement = { by: "plugin", override: true };
    expect(stored(server, [incoming("n", "plugin", 1, "generator")], plugin).items).toEqual([
      ...["t t-1 pushed", "g g-1 pushed", "h h-1 pushed", "n n-1 plugin"],
    ]);
    expect(stored(server, [incoming("g", "plugin", 2, "generator")], plugin).items).toEqual([
      ...["t t-1 pushed", "g g-2 plugin", "h h-1 pushed"],
    ]);
  });
});

describe("fields", () => {
  const before = { header: { title: "T", serverInfo: { name: "s" } }, fromSources: ["serverInfo"] };

  it("of a push replace what was pushed, and leave those of sources", () => {
    expect(composeHeader(before, { version: "2" }, push)).toEqual({
      header: { version: "2", serverInfo: { name: "s" } },
      fromSources: ["serverInfo"],
    });
    expect(composeHeader(before, { serverInfo: { name: "s" } }, push).fromSources).toEqual(["serverInfo"]);
    expect(composeHeader(before, { serverInfo: { name: "own" } }, push)).toEqual({
      header: { serverInfo: { name: "own" } },
      fromSources: [],
    });
  });

  it("of a reading replace those of sources, and never what was pushed", () => {
    expect(composeHeader(before, { title: "other", instructions: "i" }, { by: "sources", offers: [] })).toEqual({
      header: { title: "T", instructions: "i" },
      fromSources: ["instructions"],
    });
  });

  it("of an import change those that it has", () => {
    expect(composeHeader(before, { version: "2" }, { by: "push", sections: ["operations"] }).header).toEqual({
      ...{ title: "T", serverInfo: { name: "s" }, version: "2" },
    });
  });
});

describe("any composition", () => {
  const origin = fc.constantFrom<Origin>("pushed", "plugin", "source:a", "source:b");
  const key = fc.constantFrom(..."abcdefgh");
  const server = fc.uniqueArray(
    fc.record({ key, origin, isOff: fc.boolean(), kind: fc.constantFrom<CapabilityKind>("tool", "prompt") }),
    { selector: ({ kind, key: name }) => `${kind} ${name}` },
  );
  const document = fc.uniqueArray(fc.record({ key, version: fc.constantFrom(1, 2) }), { selector: (item) => item.key });
  const placement = fc.constantFrom<Placement>(
    ...[push, { by: "push" as const, includesDisabled: true }, { by: "push" as const, sections: ["tools" as const] }],
    { by: "sources", offers: [] },
  );
  // As they are stored: section by section.
  const sorted = (items: PresentItem[]) => items.toSorted((a, b) => (a.kind < b.kind ? 1 : a.kind > b.kind ? -1 : 0));

  it("done twice is the same as once, has each name once, and drops nothing of another origin", () => {
    fc.assert(
      fc.property(server, document, placement, (has, came, how) => {
        const before = sorted(has.map((item) => present(item.key, item.origin, item.isOff, item.kind)));
        const own: Origin = how.by === "sources" ? "source:a" : "pushed";
        const items = came.map((item) => incoming(item.key, own, item.version));
        const first = compose(before, items, how);
        const after = first.items.map(({ item, origin: whose }) => ({
          ...{ kind: item.kind, key: item.key, digest: item.digest, origin: whose },
          isOff: "isOff" in item ? item.isOff : false,
        }));
        expect(new Set(after.map(({ kind, key: name }) => `${kind} ${name}`)).size).toBe(after.length);
        const again = compose(after, items, how);
        expect(again.items.map(({ item, origin: whose }) => [item.key, item.digest, whose])).toEqual(
          first.items.map(({ item, origin: whose }) => [item.key, item.digest, whose]),
        );
        const names = new Set(after.map(({ kind, key: name }) => `${kind} ${name}`));
        for (const item of before) {
          const isOther = how.by === "sources" ? !isSourceOrigin(item.origin) : isSourceOrigin(item.origin);
          if (isOther) expect(names).toContain(`${item.kind} ${item.key}`);
        }
      }),
    );
  });
});
