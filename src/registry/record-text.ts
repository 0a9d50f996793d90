import type { RegistryRecord } from "./record-schema.ts";

/**
 * The record in one line, for formats that have no place for it but a comment. Texts of publishers are JSON strings in it: a
 * line break inside one would end the comment.
 */
export function recordText({ tokens, ...record }: RegistryRecord): string {
  return [`${tokens} tokens`, ...notices(record)].join("; ");
}

/** The same without the cost; empty if there is nothing to mind. */
export function noticeText(record: Omit<RegistryRecord, "tokens">): string {
  return notices(record).join("; ");
}

function notices({ flags, status, statusMessage, stale, pending }: Omit<RegistryRecord, "tokens">): string[] {
  const found: string[] = [];
  if (status !== "active")
    found.push(statusMessage === undefined ? status : `${status}: ${JSON.stringify(statusMessage)}`);
  if (stale) found.push("stale: its sources could not be read the last time");
  if (pending !== undefined) found.push(`pending: ${pending}`);
  const told = flags.map(({ rule, severity, path, acknowledged }) => {
    const accepted = acknowledged === undefined ? "" : ", acknowledged";
    return `${rule} (${severity}${accepted}) at ${JSON.stringify(path)}`;
  });
  if (told.length > 0) found.push(`flags: ${told.join(", ")}`);
  return found;
}
