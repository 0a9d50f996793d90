import { setTimeout as sleep } from "node:timers/promises";
import { CommandError } from "../command.ts";

const patienceMs = 30_000;

/** Looks again and again until `holds`; fails after half a minute. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const started = performance.now();
  while (!(await holds())) {
    if (performance.now() - started > patienceMs) throw new CommandError(`Waited ${patienceMs / 1_000} s for ${what}.`);
    await sleep(100);
  }
}

export interface Answered {
  status: number;
  retryAfter: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the operation answers
  body: any;
}

export async function ask(url: string, token: string, method: string, path: string, body?: object): Promise<Answered> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
    signal: AbortSignal.timeout(patienceMs),
  });
  const text = await response.text();
  return {
    status: response.status,
    retryAfter: response.headers.get("Retry-After"),
    body: text === "" ? undefined : JSON.parse(text),
  };
}

/** The body of an answer of success; anything else ends the drill. */
export async function require200(url: string, token: string, method: string, path: string, body?: object) {
  const answer = await ask(url, token, method, path, body);
  if (answer.status < 300) return answer.body;
  throw new CommandError(`${method} ${path} is ${answer.status}: ${JSON.stringify(answer.body).slice(0, 500)}`);
}
