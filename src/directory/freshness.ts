import { type DirectoryState, reaches, stateText } from "../http/directory-state.ts";
import { type Failure, failure } from "../kernel/failure.ts";

/** ErrorDirectoryAhead if even the object has not what the caller requires. */
export function checkMinDirectory(state: DirectoryState, min: DirectoryState | undefined): Failure | undefined {
  if (min === undefined || reaches(state, min)) return undefined;
  const rebuilt = state.epoch === min.epoch ? "" : " (it was rebuilt, and older states cannot be asked for)";
  const message = `Rollcall-Min-Directory-Generation is ${stateText(min)}, but the directory is at ${stateText(state)}${rebuilt}`;
  return failure("ErrorDirectoryAhead", message, { directory: stateText(state) });
}
