import { appendFileSync } from "node:fs";
import type { Finding } from "../../lock/compare.ts";
import { lineInLockFile } from "../../lock/lock-file.ts";
import type { ServerVerdict, Verdict } from "../../lock/verify.ts";
import type { Context } from "../context.ts";
import { plural, short } from "../terminal/layout.ts";
import { printable } from "../terminal/printable.ts";
import { changeLines, classMark } from "./changes-text.ts";

/** What `verify` prints: for people, and for GitHub Actions. */

export function headline({ item, finding }: Finding): string {
  const of = item.replace(":", " ");
  const known: Record<Finding["finding"], string> = {
    changed: `${of} changed`,
    added: `${of} is new`,
    removed: `${of} was removed`,
    gone: "the server is gone",
    flagged: `${of} has a new high flag`,
    withdrawn: "the server was withdrawn",
    deprecated: "the server is deprecated",
    pending: "a revision waits for review",
    "rewritten-log": "the log was rewritten",
    "wrong-digest": `${of} does not hash to its digest`,
  };
  return known[finding];
}

export function findingLines(context: Context, finding: Finding): string[] {
  const { red, yellow, dim } = context.out.colours;
  const level = { fail: red("✗"), warn: yellow("!"), note: dim("·") }[finding.level];
  const mark = finding.class === undefined ? "" : `${classMark(context, finding.class, finding.class)}  `;
  return [`  ${level} ${mark}${printable(headline(finding))}`, ...changeLines(context, finding)];
}

export function printVerdict(context: Context, { servers }: Verdict, lockPath: string): void {
  const { red, green, bold } = context.out.colours;
  for (const { server, ok, items, findings, locked } of servers) {
    const differing = findings.filter(({ level }) => level === "fail").length;
    const state =
      findings.length === 0
        ? `${plural(items, "item")} unchanged`
        : ok
          ? `${plural(items, "item")} as pinned`
          : `${differing} of ${items} differ`;
    context.out.print(`${ok ? green("✓") : red("✗")} ${bold(printable(server))}  ${state}`);
    for (const finding of findings) context.out.print(...findingLines(context, finding));
    if (ok) continue;
    if (locked !== null) context.out.print(`  → rollcall diff ${printable(server)} ${short(locked)} current`);
    context.out.print(`  → rollcall pin ${printable(server)} --update`);
  }
  if (servers.length === 0) context.out.print(`${lockPath} pins nothing.`);
}

const mostAnnotations = 10;

/** Text within a workflow command: what would end it is escaped, as the runner decodes it. */
function data(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

/** Annotations for GitHub Actions, at the lines of the lock file. */
export function annotations(servers: readonly ServerVerdict[], lock: { path: string; text: string }): string[] {
  const all = servers.flatMap(({ server, findings }) =>
    findings.filter(({ level }) => level !== "note").map((finding) => ({ server, finding })),
  );
  const lines = all.slice(0, mostAnnotations).map(({ server, finding }) => {
    const line = lineInLockFile(lock.text, server, finding.item === "server" ? undefined : finding.item);
    const title = `${server} ${headline(finding)}${finding.class === undefined ? "" : ` (${finding.class})`}`;
    const message = [...finding.reasons, `rollcall diff ${server}`].map(printable).join("\n");
    const kind = finding.level === "fail" ? "error" : "warning";
    return `::${kind} file=${property(lock.path)},line=${line},title=${property(printable(title))}::${data(message)}`;
  });
  const more = all.length - mostAnnotations;
  return more > 0 ? [...lines, `::warning file=${property(lock.path)}::and ${more} more; see the job's log`] : lines;
}

/** Markdown: bars and backticks would leave the cell. */
const cell = (text: string) => printable(text).replaceAll("|", "\\|").replaceAll("`", "'").replaceAll("<", "&lt;");

export function writeStepSummary(servers: readonly ServerVerdict[], path: string): void {
  const rows = servers.flatMap(({ server, ok, items, findings }) =>
    findings.length === 0
      ? [`| ${cell(server)} | ${items} items | ${ok ? "unchanged" : "differs"} | |`]
      : findings.map(
          (finding) =>
            `| ${cell(server)} | ${cell(finding.item)} | ${cell(headline(finding))} | ${cell(finding.reasons.join("; "))} |`,
        ),
  );
  appendFileSync(
    path,
    ["## rollcall verify", "", "| server | item | finding | why |", "| --- | --- | --- | --- |", ...rows, ""].join(
      "\n",
    ),
  );
}
