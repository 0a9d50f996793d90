/**
 * Writes what is made from schemas/openapi.json: the types of the client, and the schemas of what commands print. With
 * --check, says which file is out of date.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { commandOutputSchema, type Json } from "./command-outputs.ts";
import { lockFileSchema } from "./lock-file-schema.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const repository = join(root, "../..");
const openapi = join(repository, "schemas/openapi.json");

function clientTypes(): string {
  const scratch = mkdtempSync(join(tmpdir(), "rollcall-types-"));
  try {
    const output = join(scratch, "types.ts");
    const tool = join(repository, "tools/client-types/node_modules/.bin/openapi-typescript");
    // The Node that runs this, whichever one is first on PATH.
    const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}` };
    execFileSync(tool, [openapi, "--default-non-nullable=false", "--output", output], {
      env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    return readFileSync(output, "utf8");
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

const pretty = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
const document = JSON.parse(readFileSync(openapi, "utf8")) as { components: { schemas: Record<string, Json> } };
const files: Record<string, string> = {
  "src/client/types.ts": clientTypes(),
  "schemas/command-output.schema.json": pretty(commandOutputSchema(document.components.schemas)),
  "schemas/lock-file.schema.json": pretty(lockFileSchema),
};

let outdated = 0;
for (const [name, text] of Object.entries(files)) {
  const path = join(root, name);
  let present = "";
  try {
    present = readFileSync(path, "utf8");
  } catch {}
  if (present === text) continue;
  outdated += 1;
  if (process.argv.includes("--check")) console.error(`packages/rollcall/${name} is out of date`);
  else writeFileSync(path, text);
}
if (process.argv.includes("--check") && outdated > 0) {
  console.error("run: npm run generate");
  process.exit(1);
}
if (!process.argv.includes("--check"))
  console.log(`packages/rollcall: ${Object.keys(files).length} files, ${outdated} written`);
