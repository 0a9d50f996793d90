import { readFile } from "node:fs/promises";
import { CommandError } from "../../scripts/command.ts";
import { OfficialName } from "../../src/official/schema.ts";
import { type SeedEntry, toServerJson } from "../../test/e2e/support/seed-entries.ts";
import { fixturePath } from "./fixtures.ts";

export type SeedDocument = ReturnType<typeof toServerJson>;

/** The entries of the official registry's first seed that have a name, each once, as server.json. */
export async function readSeed(): Promise<SeedDocument[]> {
  const path = fixturePath("registry-official/seed_2025_05_16.json");
  if (path === undefined) {
    throw new CommandError(
      "The official registry's seed is not here. Set ROLLCALL_FIXTURES to the folder that has it.",
    );
  }
  const entries = JSON.parse(await readFile(path, "utf8")) as SeedEntry[];
  const documents = entries.map(toServerJson).filter(({ name }) => OfficialName.safeParse(name).success);
  return [...new Map(documents.map((document) => [document.name.toLowerCase(), document])).values()];
}
