import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { isRollcallError } from "../../client/errors.ts";
import { type ImportFormat, importDocument } from "../../client/write.ts";
import type { Context } from "../context.ts";
import { CliError, issueLines, UsageError } from "../failure.ts";
import { grouped, plural, short } from "../terminal/layout.ts";
import { printable } from "../terminal/printable.ts";
import { readDocument } from "./document.ts";
import { oneOf } from "./search.ts";

const formats = ["rtfs", "openapi", "graphql", "mcp"];
const typeOf: Record<string, string> = { rtfs: "application/rtfs", graphql: "application/graphql" };

export async function importFile(
  context: Context,
  [format = "", file = "", name = ""]: string[],
  flags: { dryRun?: boolean },
): Promise<void> {
  oneOf("FORMAT", format, formats);
  const server = context.server(name);
  const { text, type } = readDocument(file);
  const options = { type: typeOf[format] ?? type, dryRun: flags.dryRun || undefined, signal: context.signal };
  const result = await context
    .during(`Importing ${file}`, () =>
      importDocument(context.connection(), format as ImportFormat, server, text, options),
    )
    .catch((error: unknown) => {
      if (!isRollcallError(error) || error.status < 400 || error.status === 401 || error.status >= 500)
        throw context.signInError(error);
      throw new CliError(`${error.message}: nothing was published`, {
        where: file,
        code: error.code,
        details: error.details,
        lines: issueLines(error.details),
        hint: error.hint,
      });
    });
  context.out.json({ server, ...result, dryRun: flags.dryRun === true });
  const counts = Object.entries(result.counts as Record<string, number>).filter(([, count]) => count > 0);
  const said = counts.map(([kind, count]) => plural(count, kind.replace(/s$/, ""))).join(", ");
  context.out.print(
    `${flags.dryRun ? `Would be ${result.outcome}` : "Imported"}: ${context.out.colours.bold(server)}  ${said || "nothing"}  ${grouped(result.cost.after)} tokens  ${short(result.digest)}…`,
  );
  for (const { path, issues } of result.rejected ?? [])
    context.out.warn(`left out ${printable(path)}: ${issues.map(({ message }) => printable(message)).join("; ")}`);
  for (const warning of result.warnings) context.out.warn(printable(warning));
  if (flags.dryRun) context.out.note("Nothing was published.");
}

interface PackageJson {
  name?: string;
  version?: string;
  description?: string;
  homepage?: string;
  repository?: string | { url?: string };
}

const manifestFile = "rollcall.manifest.json";

/** A manifest to start from. */
export async function init(context: Context, _args: string[], { from }: { from?: string }): Promise<void> {
  if (existsSync(manifestFile))
    throw new UsageError(`${manifestFile} is there already`, { hint: "Edit it, or move it away first." });
  const known = from === undefined ? {} : packageMembers(from);
  const manifest = {
    title: "My server",
    description: "What this server is for, in a sentence.",
    version: "0.1.0",
    ...known,
    tools: [
      {
        name: "say_hello",
        description: "Greets someone by name.",
        inputSchema: {
          type: "object",
          properties: { name: { type: "string", description: "Who to greet." } },
          required: ["name"],
        },
      },
    ],
  };
  try {
    writeFileSync(manifestFile, `${JSON.stringify(manifest, null, 2)}\n`, { flag: "wx" });
  } catch (error) {
    throw new UsageError(`${manifestFile} cannot be written: ${(error as NodeJS.ErrnoException).code}`);
  }
  context.out.json({ file: manifestFile, manifest });
  context.out.print(`Wrote ${manifestFile}`);
  context.out.note(
    `→ Edit its tools, then: rollcall validate ${manifestFile}`,
    `→ rollcall publish TENANT/NAME ${manifestFile}`,
    "→ or publish a running server: rollcall publish TENANT/NAME -- COMMAND",
  );
}

function packageMembers(path: string): Record<string, unknown> {
  let json: PackageJson;
  try {
    json = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${(error as Error).message}`);
  }
  const repository = (typeof json.repository === "string" ? json.repository : json.repository?.url)?.replace(
    /^git\+/,
    "",
  );
  const members = {
    title: json.name,
    description: json.description,
    version: json.version,
    websiteUrl: json.homepage,
    repository: repository?.startsWith("https://") ? { url: repository } : undefined,
  };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
