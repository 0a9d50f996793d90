import { importSigningKey } from "../../src/webhooks/keys.ts";
import { signWebhook } from "../../src/webhooks/sign.ts";
import { CommandError } from "../command.ts";
import { isAcknowledged, type Outcome, send } from "./traffic.ts";

type SigningKey = Extract<Awaited<ReturnType<typeof importSigningKey>>, { ok: true }>["value"];

/** A publisher that sends signed events, each until it has an answer. */
export class HookSender {
  readonly #tenant: string;
  #id = "";
  #key: SigningKey | undefined;
  /** The event under way: its turn is also its sequence and its message id. */
  #turn = 1;

  constructor(tenant: string) {
    this.#tenant = tenant;
  }

  async register({ id, secret }: { id: string; secret: string }): Promise<void> {
    const key = await importSigningKey(secret);
    if (!key.ok) throw new CommandError(`The secret of the hook cannot be used: ${key.error}.`);
    this.#id = id;
    this.#key = key.value;
  }

  async send(url: string, manifestOf: (turn: number) => object): Promise<{ outcome: Outcome; turn: number }> {
    const turn = this.#turn;
    const text = JSON.stringify({ type: "manifest.published", data: { sequence: turn, manifest: manifestOf(turn) } });
    const message = { id: `msg_drill_${turn}`, body: new TextEncoder().encode(text) };
    const signed = await signWebhook(message, this.#key === undefined ? [] : [this.#key], Date.now());
    if (!signed.ok) throw new CommandError(`The event cannot be signed: ${signed.error}.`);
    // A publisher has no token: its signature is all that it shows.
    const outcome = await send(url, undefined, "POST", `/hooks/${this.#tenant}/${this.#id}`, text, signed.value);
    if (isAcknowledged(outcome)) this.#turn += 1;
    return { outcome, turn };
  }
}
