/** The parts of a head that make up its ETag. */
interface Tagged {
  digest?: string;
  overlay: number;
}

/**
 * ETag of a view: digest, overlay revision and version of the view's code. Weak, because `lastSynced` in the body may
 * change while the tag stays the same.
 */
export function etagOf(head: Tagged, view: string): string {
  return `W/"${opaqueTag(head)}.${view}"`;
}

function opaqueTag(head: Tagged): string {
  return `${head.digest ?? "none"}.${head.overlay}`;
}

/** Weak comparison, as required for `If-None-Match`. */
export function matchesEtag(header: string, etag: string): boolean {
  if (header === etag || header === "*") return true;
  const wanted = etag.replace(/^W\//, "");
  return parseTags(header).some((tag) => `"${tag}"` === wanted);
}

/** State that a write requires of its server. */
export type Precondition = { kind: "absent" } | { kind: "present" } | { kind: "tags"; tags: string[] };

/** Reads `If-Match` and `If-None-Match: *`; undefined when the write is unconditional. */
export function preconditionOf(ifMatch: string | undefined, ifNoneMatch: string | undefined): Precondition | undefined {
  if (ifMatch !== undefined)
    return ifMatch.trim() === "*" ? { kind: "present" } : { kind: "tags", tags: parseTags(ifMatch) };
  return ifNoneMatch?.trim() === "*" ? { kind: "absent" } : undefined;
}

/**
 * `If-Match` requires strong comparison, which would reject the registry's own weak tags. So a write compares the tag's
 * content: the digest alone, or digest and overlay revision. The view in the tag is ignored.
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

/** Names a request, so that it has one effect however often it is sent. */
export interface Idempotency {
  key: string;
  /** Of the whole request: another one with the same key is a mistake. */
  digest: string;
}
