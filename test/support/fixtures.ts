import { describe, test } from "vitest";
import { fixture, readJson } from "./locate.ts";

export { fixture, readJson };

/** A suite over public vectors. They are no part of the project: where they are missing, the suite says so and skips. */
export function describeFixture(title: string, path: string, suite: (location: string) => void): void {
  const location = fixture(path);
  if (location !== undefined) {
    describe(title, () => suite(location));
    return;
  }
  console.warn(`Skipped "${title}": no ${path} in ROLLCALL_FIXTURES`);
  describe(title, () => {
    test.skip(`skipped: no ${path} in ROLLCALL_FIXTURES`, () => {});
  });
}
