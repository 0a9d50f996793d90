/**
 * Every way an outbound request can fail, with messages that are safe to show: they contain no address, no header and
 * nothing from the remote response. They deliberately do not say which rule refused an address.
 */
const messages = {
  refused: "The registry will not send requests to this address. Use a public https URL on the default port",
  timeout: "No response in time",
  "too-large": "Response exceeds the size limit",
  "too-many-redirects": "More than 3 redirects",
  unreachable: "Could not connect, or the connection closed early",
  cancelled: "Request cancelled",
} as const;

export type FetchFailureKind = keyof typeof messages;

export interface FetchFailure {
  kind: FetchFailureKind;
  message: string;
}

export function fetchFailure(kind: FetchFailureKind): FetchFailure {
  return { kind, message: messages[kind] };
}

/** A FetchFailure as an exception, for use inside a stream and in the interface of the standard `fetch`. */
export class FetchError extends Error {
  readonly failure: FetchFailure;

  constructor(kind: FetchFailureKind) {
    super(messages[kind]);
    this.name = "FetchError";
    this.failure = fetchFailure(kind);
  }
}

/** The failure of a FetchError; `unreachable` for any other error, as its message may reveal too much. */
export function failureFrom(thrown: unknown): FetchFailure {
  return thrown instanceof FetchError ? thrown.failure : fetchFailure("unreachable");
}
