import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { UsageError } from "../failure.ts";

/** Questions are asked only where someone can answer; otherwise the error names the flag that answers. */
function requireTerminal(question: string, flag: string): void {
  if (process.stdin.isTTY === true && process.stderr.isTTY === true) return;
  throw new UsageError(`${question} There is no terminal to ask on.`, { hint: `Answer with ${flag}.` });
}

export async function ask(question: string, flag: string, { hidden = false } = {}): Promise<string> {
  requireTerminal(question, flag);
  let isMuted = false;
  const echo = new Writable({
    write(chunk, _encoding, done) {
      if (!isMuted) process.stderr.write(chunk);
      done();
    },
  });
  const reader = createInterface({ input: process.stdin, output: echo, terminal: true });
  try {
    const answer = reader.question(`${question} `);
    isMuted = hidden;
    const text = await answer;
    if (hidden) process.stderr.write("\n");
    return text.trim();
  } finally {
    reader.close();
  }
}

/** Resolves if the answer is yes; throws otherwise. */
export async function confirm(
  question: string,
  { yes, flag = "--yes" }: { yes: boolean; flag?: string },
): Promise<void> {
  if (yes) return;
  const answer = await ask(`${question} [y/N]`, flag);
  if (!/^y(es)?$/i.test(answer)) throw new UsageError("Nothing was changed.", { exitCode: 1 });
}

/** All of stdin as text. */
export async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
