import { serverPath } from "../../client/connection.ts";
import { diff as compare, history as list, type RevisionDiff } from "../../client/read.ts";
import { type PublishResult, write } from "../../client/write.ts";
import type { Context } from "../context.ts";
import { CliError, FoundError } from "../failure.ts";
import { grouped, plural, short, table } from "../terminal/layout.ts";
import { printable } from "../terminal/printable.ts";
import { confirm } from "../terminal/prompt.ts";
import { changeLines, classMark } from "./changes-text.ts";
import { resolveDigest } from "./digest.ts";
import { wholeNumber } from "./search.ts";
import { withNearest } from "./show.ts";

export async function history(context: Context, [name = ""]: string[], flags: { limit?: string }): Promise<void> {
  const server = context.server(name);
  const limit = wholeNumber("--limit", flags.limit, 100);
  const page = await withNearest(context, server, () =>
    list(context.connection(), server, { limit, signal: context.signal }),
  );
  context.out.json(page);
  if (context.out.isJson) return;
  if (page.items.length === 0) return context.out.print("Nothing was published yet.");
  const { bold, dim, green } = context.out.colours;
  const hasVersions = page.items.some((one) => (one as { version?: string }).version !== undefined);
  const rows = page.items.map((one, index) => {
    const { number, digest, publishedAt, publishedBy, changes } = one;
    const { tokens, version } = one as { tokens?: number; version?: string };
    const before = (page.items[index + 1] as { tokens?: number } | undefined)?.tokens;
    const moved =
      tokens === undefined || before === undefined || tokens === before
        ? ""
        : ` (${tokens > before ? "+" : "−"}${grouped(Math.abs(tokens - before))})`;
    const counts = [
      changes.breaking > 0 ? classMark(context, "breaking", String(changes.breaking)) : "",
      changes.additive > 0 ? classMark(context, "additive", String(changes.additive)) : "",
      changes.cosmetic > 0 ? classMark(context, "cosmetic", String(changes.cosmetic)) : "",
    ];
    const isCurrent = digest === page.current;
    return [
      String(number),
      isCurrent ? bold(short(digest)) : short(digest),
      publishedAt.slice(0, 16).replace("T", " "),
      ...(hasVersions ? [printable(version ?? "")] : []),
      tokens === undefined ? "" : `${grouped(tokens)}${dim(moved)}`,
      counts.filter((text) => text !== "").join("  "),
      `${printable(publishedBy)}${isCurrent ? green("  current") : ""}`,
    ];
  });
  const head = ["", "digest", "published", ...(hasVersions ? ["version"] : []), "tokens", "changes", "by"].map((text) =>
    dim(text),
  );
  context.out.print(...table([head, ...rows], { right: [0] }));
  if (page.nextCursor !== undefined) context.out.note(dim(`${page.items.length} shown, there are more: --limit 100`));
}

export async function diff(
  context: Context,
  [name = "", from, to]: string[],
  flags: { exitCode?: boolean },
): Promise<void> {
  const server = context.server(name);
  await withNearest(context, server, async () => {
    const earlier = await resolveDigest(context, server, from ?? "previous").catch((error: unknown) => {
      if (from === undefined && error instanceof CliError) {
        throw new CliError(`${server} has one revision: there is nothing to compare it with`, {
          hint: error.hint,
          code: error.code,
        });
      }
      throw error;
    });
    const later = await resolveDigest(context, server, to ?? "current");
    const found = await compare(context.connection(), server, earlier, {
      to: later,
      items: true,
      signal: context.signal,
    });
    context.out.json(found);
    printDiff(context, server, found);
    if (flags.exitCode && found.changes.length > 0)
      throw new FoundError(`${server}: ${plural(found.changes.length, "item")} changed`);
  });
}

function printDiff(context: Context, server: string, { from, to, changes }: RevisionDiff): void {
  const { bold, dim } = context.out.colours;
  context.out.print(`${bold(server)}  ${dim(`${short(from)} → ${short(to)}`)}`);
  if (changes.length === 0) context.out.print("Nothing changed.");
  for (const change of changes) {
    const { kind, name, classification } = change;
    context.out.print(
      "",
      `${classMark(context, classification, classification)}  ${dim(kind)} ${bold(printable(name))}`,
    );
    context.out.print(...changeLines(context, change));
  }
}

interface RestoreFlags {
  yes?: boolean;
  dryRun?: boolean;
  partial?: boolean;
}

export async function restoreRevision(
  context: Context,
  [name = "", digest = ""]: string[],
  flags: RestoreFlags,
): Promise<void> {
  const server = context.server(name);
  await withNearest(context, server, async () => {
    const { tenant, path } = serverPath(server);
    const wanted = await resolveDigest(context, server, digest);
    const send = (dryRun: boolean) =>
      write<PublishResult>(
        context.connection(),
        tenant,
        "POST",
        `/api/mcp/capabilities/${path}/revisions/${wanted}/restore`,
        {
          query: { dryRun: dryRun || undefined, partial: flags.partial || undefined },
        },
      );
    const preview = await send(true);
    if (flags.dryRun) {
      context.out.json({ server, ...preview, dryRun: true });
      context.out.print(`Would be ${preview.outcome}: ${server} ${short(wanted)}… (nothing was changed)`);
      return;
    }
    const { breaking, additive, cosmetic } = preview.changes;
    if (preview.outcome !== "unchanged") {
      await confirm(
        `Make ${short(wanted)}… current again? ${breaking} breaking, ${additive} additive, ${cosmetic} cosmetic.`,
        { yes: flags.yes === true },
      );
    }
    const result = await send(false);
    context.out.json({ server, ...result, dryRun: false });
    context.out.print(
      `${result.outcome === "unchanged" ? "Unchanged" : "Restored"}: ${server}  ${short(result.digest)}…  generation ${result.generation ?? "–"}`,
    );
  });
}
