import { CommandError } from "../command.ts";
import { type BoundedInput, boundedInputs, wordLists } from "./bounded-inputs.ts";
import { collectPatterns, type Pattern } from "./collect.ts";

/** Long enough for every pattern that is not listed, on a slow machine too: those take milliseconds. */
const timeoutMs = 60_000;

/**
 * Every regular expression of `src` is linear, as recheck finds, or listed with the reason why its input is short.
 */
export async function checkPatterns(): Promise<string> {
  // Read when recheck is loaded: its other engines need Java or a binary.
  process.env.RECHECK_BACKEND = "pure";
  const { check } = await import("recheck");
  const patterns = await collectPatterns();
  const isListed = (pattern: Pattern) =>
    wordLists.some((file) => file === pattern.file) || boundedInputs.some((one) => isSame(one, pattern));
  const unlisted = new Map(
    patterns.filter((pattern) => !isListed(pattern)).map((pattern) => [`/${pattern.source}/${pattern.flags}`, pattern]),
  );
  const problems: string[] = [];
  for (const [text, { file, source, flags }] of unlisted) {
    const verdict = await check(source, flags, { timeout: timeoutMs });
    if (verdict.status === "safe") continue;
    const why =
      verdict.status === "vulnerable" ? verdict.complexity.summary : `cannot be judged (${verdict.error.kind})`;
    problems.push(`${file} ${text}: ${why}`);
  }
  const stale = boundedInputs.filter((one) => !patterns.some((pattern) => isSame(one, pattern)));
  problems.push(
    ...stale.map(
      ({ file, source }) => `scripts/patterns/bounded-inputs.ts lists what ${file} no longer has: ${source}`,
    ),
  );
  if (problems.length > 0) {
    const next =
      "Write them so that they are linear, or list them in scripts/patterns/bounded-inputs.ts with the bound of their input.";
    throw new CommandError([...problems, next].join("\n"));
  }
  return `${unlisted.size} linear, ${boundedInputs.length} and ${wordLists.length} lists of words with bounded input`;
}

function isSame(listed: BoundedInput, { file, source, flags }: Pattern): boolean {
  return listed.file === file && listed.source === source && listed.flags === flags;
}
