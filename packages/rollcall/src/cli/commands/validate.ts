import { defaultBounds } from "../../../../../src/kernel/bounds.ts";
import { runAtOnce } from "../../../../../src/kernel/pace/pace.ts";
import { parseStrictJson } from "../../../../../src/kernel/strict-json.ts";
import { parseYaml } from "../../../../../src/kernel/yaml.ts";
import { readIntake, writtenPath } from "../../../../../src/manifest/intake/intake.ts";
import { scanCapability } from "../../../../../src/manifest/scan.ts";
import { sections } from "../../../../../src/manifest/schema/manifest.ts";
import { splitManifest, validateFields, validationSteps } from "../../../../../src/manifest/validate.ts";
import type { Context } from "../context.ts";
import { FoundError, issueLines, UsageError } from "../failure.ts";
import { plural } from "../terminal/layout.ts";
import { printable } from "../terminal/printable.ts";
import { lookAlike, readDocument } from "./document.ts";

// The rules are written for the Worker's runtime; Node 20 lacks this one function.
Map.groupBy ??= <Key, Item>(items: Iterable<Item>, keyOf: (item: Item, index: number) => Key): Map<Key, Item[]> => {
  const groups = new Map<Key, Item[]>();
  let index = 0;
  for (const item of items) {
    const key = keyOf(item, index);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
    index += 1;
  }
  return groups;
};

/** The registry's own rules, here: no login and no network. Loaded only for this command. */
export async function validate(context: Context, [path = ""]: string[]): Promise<void> {
  const document = readDocument(path);
  const other = lookAlike(document);
  if (other !== undefined) {
    throw new UsageError(`${path} looks like ${other.what}, not like a manifest`, {
      hint: other.instead,
      code: "ErrorNotManifest",
    });
  }
  const bytes = new TextEncoder().encode(document.text);
  const limits = { maxDepth: defaultBounds.depth };
  const parsed =
    document.type === "application/yaml"
      ? parseYaml(bytes, { ...limits, maxBytes: defaultBounds.manifestBytes })
      : parseStrictJson(bytes, limits);
  if (!parsed.ok) throw new UsageError(`${path} cannot be read: ${parsed.error.message}`, { code: "ErrorNotManifest" });
  const intake = readIntake(parsed.value);
  if (!intake.ok) {
    const lines = issueLines(intake.error.details);
    throw new UsageError(`${path} is not a manifest: ${intake.error.message}`, { lines, code: "ErrorNotManifest" });
  }
  const { document: manifest, damage, faults, warnings, written } = intake.value;
  const options = { server: "server", partial: true, bounds: defaultBounds };
  const { fields, items } = splitManifest(manifest, "server");
  const found = [...damage, ...faults];
  const rejected = [...validateFields(fields, found, options).rejected];
  const checked = runAtOnce(validationSteps(items, found, options));
  rejected.push(...checked.rejected);
  const issues = rejected.flatMap((one) =>
    one.issues.map(({ path: at, message }) => ({ path: writtenPath(written, at), message })),
  );
  const flags = checked.accepted.flatMap(({ section, key, item, path: at }) =>
    scanCapability({ kind: sections[section].kind, name: key, declared: item }).map((flag) => ({
      item: `${sections[section].kind}:${key}`,
      at,
      ...flag,
    })),
  );
  const counts: Record<string, number> = {};
  for (const { section } of checked.accepted) counts[section] = (counts[section] ?? 0) + 1;
  const remarks = warnings.map(({ path: at, message }) => `${at} ${message}`.trim());
  context.out.json({ ok: issues.length === 0, file: path, counts, issues, warnings: remarks, flags });
  const { green, red, yellow } = context.out.colours;
  const said = Object.entries(counts).map(([section, count]) => plural(count, section.replace(/s$/, "")));
  context.out.print(`${issues.length === 0 ? green("✓") : red("✗")} ${path}: ${said.join(", ") || "no items"}`);
  for (const { path: at, message } of issues) context.out.print(`  ${red("✗")} ${printable(`${at} ${message}`)}`);
  for (const { item, rule, message } of flags)
    context.out.print(`  ${yellow("⚐")} ${printable(`${item}  ${rule}  ${message}`)}`);
  for (const remark of remarks) context.out.warn(printable(remark));
  if (issues.length > 0)
    throw new FoundError(`${plural(issues.length, "issue")}: a registry would refuse this`, {
      hint: "Correct what is listed above.",
    });
}
