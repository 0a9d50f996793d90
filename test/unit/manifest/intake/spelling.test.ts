import fc from "fast-check";
import { expect, it } from "vitest";
import { isObject } from "../../../../src/kernel/json.ts";
import { readIntake } from "../../../../src/manifest/intake/intake.ts";
import { headerPlace, itemPlaces } from "../../../../src/manifest/intake/known-members.ts";
import { type Place, snakeCase } from "../../../../src/manifest/intake/places.ts";
import { type SectionName, sectionNames } from "../../../../src/manifest/schema/manifest.ts";

/** Objects with any of the members that are known at a place, and some of their own. */
function anything(place: Place, levels: number): fc.Arbitrary<Record<string, unknown>> {
  const leaf = fc.oneof(
    fc.jsonValue(),
    fc.dictionary(fc.constantFrom("input_schema", "mimeType", "x"), fc.jsonValue()),
  );
  const names = [...new Set([...place.members.values()].map(({ name }) => name))].filter(
    (name) => name !== "parameters",
  );
  const members = names.map((name): [string, fc.Arbitrary<unknown>] => {
    const { inside } = place.members.get(name) ?? {};
    if (inside === undefined || levels === 0) return [name, leaf];
    const nested = anything(inside, levels - 1);
    return [name, fc.oneof(nested, fc.array(nested, { maxLength: 2 }))];
  });
  return fc.record(Object.fromEntries([...members, ["ownMember", leaf]]), { requiredKeys: [] });
}

const { header, lists } = {
  header: anything(headerPlace, 2).map((value) =>
    Object.fromEntries(Object.entries(value).filter(([key]) => !(sectionNames as string[]).includes(key))),
  ),
  lists: fc.record(
    Object.fromEntries(
      sectionNames.map((section) => [section, fc.array(anything(itemPlaces[section], 3), { maxLength: 2 })]),
    ) as Record<SectionName, fc.Arbitrary<Record<string, unknown>[]>>,
  ),
};

/** The same with the names of known members in snake_case. */
function respelt(value: unknown, place: Place | undefined): unknown {
  if (place === undefined) return value;
  if (Array.isArray(value)) return value.map((element) => respelt(element, place));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, member]) => {
    const known = place.members.get(key);
    return [known === undefined ? key : snakeCase(key), respelt(member, known?.inside)];
  });
  return Object.fromEntries(entries);
}

const read = (value: unknown) => {
  const intake = readIntake({ value, issues: [] });
  if (!intake.ok) throw new Error(intake.error.message);
  const { document, faults, sections, warnings } = intake.value;
  // Paths are the sender's.
  return { document, faults, sections, warnings: warnings.length };
};

it("does not matter: a document in snake_case is the same manifest", () => {
  fc.assert(
    fc.property(header, lists, (fields, items) => {
      const own = { ...fields, ...items };
      const seeds = {
        ...(respelt(fields, headerPlace) as object),
        ...Object.fromEntries(
          sectionNames.map((section) => [snakeCase(section), respelt(items[section], itemPlaces[section])]),
        ),
      };
      const asOwn = read(own);
      expect(read(seeds)).toEqual(asOwn);
      expect(asOwn.faults).toEqual([]);
      // What is read stays as it is when it is read again.
      expect(read(asOwn.document).document).toEqual(asOwn.document);
    }),
  );
});
