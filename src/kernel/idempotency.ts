/** Names a request, so that it has one effect however often it is sent. */
export interface Idempotency {
  key: string;
  /** Of the whole request: another one with the same key is a mistake. */
  digest: string;
}
