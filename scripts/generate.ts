import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stringify } from "yaml";
import { moduleBytes } from "../tools/rank-kernel/module.ts";
import { CommandError, runCommand } from "./command.ts";
import { loadDescription } from "./description.ts";
import { projectPath } from "./project.ts";
import { commandsPage } from "./reference/commands.ts";
import type { Document, Schema } from "./reference/document.ts";
import { errorsPage } from "./reference/errors.ts";
import { llmsText } from "./reference/llms.ts";
import { operationPages, operationsPage } from "./reference/operations.ts";
import { schemasPage } from "./reference/schemas.ts";
import { settingsPage } from "./reference/settings.ts";
import { bindingTypes, runTool } from "./run-tool.ts";
import { readWorkerConfig } from "./worker-config.ts";

const help = `
Usage: npm run generate

Writes schemas/, the assets and the pages of docs/reference that are made from the operations, settings and commands, then the types of the bindings.
  --check   (node scripts/generate.ts --check) writes nothing, and says which files are out of date
`;

await runCommand({ help, options: { check: { type: "boolean", default: false } } }, async ({ check }) => {
  const description = await loadDescription();
  const { openApiDocument, originPlaceholder, jsonSchemas } = description;

  const schemas = jsonSchemas((id) => `${id}.schema.json`);
  const committed = openApiDocument("http://127.0.0.1:8787");
  const served = openApiDocument(originPlaceholder);
  const document = JSON.parse(JSON.stringify(committed)) as Document;
  const facts = description.operationFacts();
  const pages: Record<string, string> = {
    "operations.md": operationsPage(document, facts),
    "errors.md": errorsPage(document, description),
    "settings.md": settingsPage((await readWorkerConfig()).vars),
    "schemas.md": schemasPage(document, schemas as Record<string, Schema>),
    "commands.md": await commandsPage(),
  };
  const pretty = (json: unknown) => `${JSON.stringify(json, null, 2)}\n`;

  const folders: Record<string, { files: Record<string, string>; owns: (name: string) => boolean }> = {
    schemas: {
      files: {
        "openapi.json": pretty(committed),
        ...Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [`${name}.schema.json`, pretty(schema)])),
      },
      owns: () => true,
    },
    assets: {
      files: {
        // The Worker serves the schemas from one file, so a new schema needs no import there.
        "schemas.json": JSON.stringify(schemas),
        "llms.txt": llmsText(document, originPlaceholder),
        "openapi.json": JSON.stringify(served),
        "openapi.yaml": stringify(JSON.parse(JSON.stringify(served)), { aliasDuplicateObjects: false, lineWidth: 0 }),
      },
      owns: (name) => /\.(json|yaml|txt)$/.test(name),
    },
    // Pages beside these are written by hand.
    "docs/reference": { files: pages, owns: (name) => name in pages },
    "docs/reference/operations": { files: operationPages(document, facts), owns: () => true },
  };

  let outdated = syncKernel(check);
  for (const [folder, { files, owns }] of Object.entries(folders)) outdated += sync(folder, files, owns, check);
  if (outdated > 0 && check) throw new CommandError("Run: npm run generate");
  if (check) return;
  const types = await runTool("wrangler", bindingTypes);
  if (types.exitCode !== 0) throw new CommandError(`The types of the bindings could not be made.\n\n${types.output}`);
  console.log("worker-configuration.d.ts: written");
  // From the OpenAPI document that was just written.
  const ofPackage = await runTool("node", ["packages/rollcall/scripts/generate.ts"]);
  if (ofPackage.exitCode !== 0) throw new CommandError(`The package's files could not be made.\n\n${ofPackage.output}`);
  console.log(ofPackage.output.trim());
});

/** The search kernel, as bytes. */
function syncKernel(check: boolean): number {
  const [path, bytes] = ["src/search/index/kernel.wasm", Buffer.from(moduleBytes())];
  if (existsSync(projectPath(path)) && readFileSync(projectPath(path)).equals(bytes)) return 0;
  if (check) console.error(`${path} is out of date`);
  else {
    writeFileSync(projectPath(path), bytes);
    console.log(`${path}: written`);
  }
  return 1;
}

/** Makes a folder's generated files what they should be, or with `check` only says which are not; returns how many. */
function sync(folder: string, files: Record<string, string>, owns: (name: string) => boolean, check: boolean): number {
  const at = (name: string) => projectPath(`${folder}/${name}`);
  mkdirSync(at(""), { recursive: true });
  const present = readdirSync(at("")).filter(owns);
  const surplus = present.filter((name) => !(name in files));
  const stale = Object.keys(files).filter(
    (name) => !present.includes(name) || readFileSync(at(name), "utf8") !== files[name],
  );
  if (check) {
    for (const name of stale) console.error(`${folder}/${name} is out of date`);
    for (const name of surplus) console.error(`${folder}/${name} is generated by nothing`);
  } else {
    for (const name of stale) writeFileSync(at(name), files[name] ?? "");
    for (const name of surplus) rmSync(at(name));
    console.log(`${folder}/: ${Object.keys(files).length} files, ${stale.length} written, ${surplus.length} removed`);
  }
  return stale.length + surplus.length;
}
