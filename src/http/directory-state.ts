/** A state of everything public: a change moves the generation, a rebuild of the directory changes the epoch. */
export interface DirectoryState {
  epoch: string;
  generation: number;
}

/** As headers show a state. */
export function stateText({ epoch, generation }: DirectoryState): string {
  return `${epoch}.${generation}`;
}

/** undefined if the text is not `epoch.generation`. */
export function parseState(text: string): DirectoryState | undefined {
  const match = /^([0-9a-z]{1,16})\.(\d{1,15})$/.exec(text);
  return match === null ? undefined : { epoch: match[1] ?? "", generation: Number(match[2]) };
}

/**
 * True if a state has everything that another one has. Epochs are in order of time, and what was in the directory before one
 * is in its first state.
 */
export function isAsNewAs(state: DirectoryState, other: DirectoryState): boolean {
  if (state.epoch !== other.epoch) return Number.parseInt(state.epoch, 36) > Number.parseInt(other.epoch, 36);
  return state.generation >= other.generation;
}

/** True if a state has everything that a reader asked for. States of different epochs cannot be compared. */
export function reaches(state: DirectoryState, min: DirectoryState | undefined): boolean {
  return min === undefined || (state.epoch === min.epoch && state.generation >= min.generation);
}
