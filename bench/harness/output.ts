import { access, constants, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { CommandError } from "../../cli/command.ts";

/** Refuses a file that could not be written once everything is measured. */
export async function requireWritable(option: string, file: string): Promise<void> {
  const [there, folder] = await Promise.all([statOf(file), statOf(dirname(file))]);
  if (there?.isDirectory()) throw new CommandError(`${option} ${file} is a directory; it takes a file.`);
  if (!folder?.isDirectory()) throw new CommandError(`${option} ${file}: there is no directory ${dirname(file)}.`);
  await access(there === undefined ? dirname(file) : file, constants.W_OK).catch(() => {
    throw new CommandError(`${option} ${file} cannot be written.`);
  });
}

function statOf(path: string) {
  return stat(path).catch(() => undefined);
}
