/** As much of a head as its tag is made of. */
interface Tagged {
  digest?: string;
  overlay: number;
}

/**
 * A representation's tag: digest, overlay revision and the version of the view's code. Weak, because `lastSynced` may
 * move under it.
 */
export function etagOf(head: Tagged, view: string): string {
  return `W/"${opaqueTag(head)}.${view}"`;
}

function opaqueTag(head: Tagged): string {
  return `${head.digest ?? "none"}.${head.overlay}`;
}

/** Weak comparison, as `If-None-Match` asks for. */
export function matchesEtag(header: string, etag: string): boolean {
  if (header === etag || header === "*") return true;
  const wanted = etag.replace(/^W\//, "");
  return parseTags(header).some((tag) => `"${tag}"` === wanted);
}

/** What a write requires of the server it changes. */
export type Precondition = { kind: "absent" } | { kind: "present" } | { kind: "tags"; tags: string[] };

/** Reads `If-Match` and `If-None-Match: *`; undefined when the write is unconditional. */
export function preconditionOf(ifMatch: string | undefined, ifNoneMatch: string | undefined): Precondition | undefined {
  if (ifMatch !== undefined)
    return ifMatch.trim() === "*" ? { kind: "present" } : { kind: "tags", tags: parseTags(ifMatch) };
  return ifNoneMatch?.trim() === "*" ? { kind: "absent" } : undefined;
}

/**
 * Strong comparison would refuse our own weak tags, so a write compares what the tag stands for: the digest alone, or
 * digest and overlay revision whatever the view it was read from.
 */
export function meetsPrecondition(condition: Precondition, head: Tagged | undefined): boolean {
  switch (condition.kind) {
    case "absent":
      return head === undefined;
    case "present":
      return head !== undefined;
    case "tags":
      return (
        head !== undefined &&
        condition.tags.some((tag) => tag === head.digest || `${tag}.`.startsWith(`${opaqueTag(head)}.`))
      );
  }
}

function parseTags(header: string): string[] {
  return Array.from(header.matchAll(/(?:W\/)?"([^"]*)"/g), (match) => match[1] ?? "");
}
