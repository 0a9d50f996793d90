import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, test } from "vitest";

const project = resolve(import.meta.dirname, "../..");
const folder = resolve(project, process.env.ROLLCALL_FIXTURES ?? "../shared/fixtures");

/** Where a public test vector (a file or folder) lies; undefined where the vectors are not installed. */
export function fixture(path: string): string | undefined {
  const location = resolve(folder, path);
  return existsSync(location) ? location : undefined;
}

export function readJson(location: string): unknown {
  return JSON.parse(readFileSync(location, "utf8"));
}

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
