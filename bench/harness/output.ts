import { access, constants, mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { CommandError } from "../../scripts/command.ts";

/** Refuses a file that could not be written once everything is measured. */
export async function requireWritable(option: string, file: string): Promise<void> {
  const [there, folder] = await Promise.all([statOf(file), statOf(dirname(file))]);
  if (there?.isDirectory()) throw new CommandError(`${option} ${file} is a directory; it takes a file.`);
  if (!folder?.isDirectory()) throw new CommandError(`${option} ${file}: there is no directory ${dirname(file)}.`);
  await access(there === undefined ? dirname(file) : file, constants.W_OK).catch(() => {
    throw new CommandError(`${option} ${file} cannot be written.`);
  });
}

/** Makes a directory where there is none, or refuses it before anything is measured. */
export async function requireDirectory(option: string, directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true });
    await access(directory, constants.W_OK);
  } catch {
    throw new CommandError(`${option} ${directory} is not a directory that can be written.`);
  }
}

function statOf(path: string) {
  return stat(path).catch(() => undefined);
}
