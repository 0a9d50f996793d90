/**
 * Every way out can fail, with words that are safe to show: they name no address, no header and nothing of what the
 * other side sent. Which rule refused an address is not said on purpose.
 */
const messages = {
  refused: "The address is not one that the registry asks",
  timeout: "The other side took too long",
  "too-large": "The answer is larger than is read",
  "too-many-redirects": "The other side redirects too often",
  unreachable: "The other side cannot be reached, or its answer broke off",
  cancelled: "The request was given up before it was answered",
} as const;

export type FetchFailureKind = keyof typeof messages;

export interface FetchFailure {
  kind: FetchFailureKind;
  message: string;
}

export function fetchFailure(kind: FetchFailureKind): FetchFailure {
  return { kind, message: messages[kind] };
}

/** The same, for where only an exception fits: inside a stream, and in the shape of the standard `fetch`. */
export class FetchError extends Error {
  readonly failure: FetchFailure;

  constructor(kind: FetchFailureKind) {
    super(messages[kind]);
    this.name = "FetchError";
    this.failure = fetchFailure(kind);
  }
}

/** What broke: a failure of ours if it was one, and otherwise only that it broke, since others' words may tell much. */
export function failureFrom(thrown: unknown): FetchFailure {
  return thrown instanceof FetchError ? thrown.failure : fetchFailure("unreachable");
}
