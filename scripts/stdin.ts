import { CommandError } from "./command.ts";

/** Longer than any secret or token, and short enough that a wrong file is noticed at once. */
const maxLength = 16_384;

/** What was piped in, without the newline that `echo` and files end with. `what` names it in the errors. */
export async function readSecretFromStdin(what: string): Promise<string> {
  if (process.stdin.isTTY) {
    throw new CommandError(
      `Nothing is piped in. Pipe ${what} in, so that it is neither shown nor kept in the history.`,
    );
  }
  let text = "";
  process.stdin.setEncoding("utf8");
  for await (const chunk of process.stdin) {
    text += chunk;
    if (text.length > maxLength) throw new CommandError(`What is piped in is too long for ${what}.`);
  }
  const value = text.trimEnd();
  if (value === "") throw new CommandError(`What is piped in is empty; it must be ${what}.`);
  if (/\s/.test(value)) throw new CommandError(`What is piped in has more than one word; it must be ${what} alone.`);
  return value;
}
