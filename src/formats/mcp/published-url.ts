import { publicUrl } from "../openapi/wording.ts";

const SECRET = /(^|[_-])(key|token|secret|sig|signature|auth|password|passwd)$|^code$|(apikey|token)$/i;

/**
 * A source's address as every reader of the manifest may see it. Some servers take their key as a query parameter;
 * whoever put it there meant it for the registry alone.
 */
export function publishedUrl(url: string): string {
  const plain = publicUrl(url) ?? url;
  if (!URL.canParse(plain)) return plain;
  const parsed = new URL(plain);
  const secrets = [...parsed.searchParams.keys()].filter((name) => SECRET.test(name));
  if (secrets.length === 0) return plain;
  for (const name of secrets) parsed.searchParams.delete(name);
  return parsed.href;
}
