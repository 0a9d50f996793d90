import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli, start, startCli, stopAll } from "../support/process.ts";
import { failure, read, search } from "./search-client.ts";

const tools = "tools/client-types/node_modules/.bin";
let scratch: string;
let url: string;
let token: string;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "rollcall-clients-"));
  const data = join(scratch, "data");
  [, url = ""] = await startCli("serve.ts", "--port", "0", "--data", data).line(/ready (\S+)/);
  token = (await runCli("token.ts", "--data", data, "--tenant", "demo")).stdout.trim();
});

afterAll(async () => {
  await stopAll();
  await rm(scratch, { recursive: true, force: true });
});

describe("a TypeScript client", () => {
  it("compiles with the types of the OpenAPI document, and its mistakes do not", async () => {
    await mkdir(".wrangler/client-types", { recursive: true });
    const types = ".wrangler/client-types/rollcall.d.ts";
    const made = await start(`${tools}/openapi-typescript`, ["schemas/openapi.json", "--output", types]).finished;
    expect(made).toMatchObject({ exitCode: 0 });
    const compiled = await start("node_modules/.bin/tsc", ["--noEmit", "-p", "test/e2e/clients/tsconfig.json"])
      .finished;
    expect(compiled).toMatchObject({ exitCode: 0, stdout: "" });
  });

  it("finds what the registry has", async () => {
    const { tokens, names, next } = await search(url, "will it rain tomorrow");
    expect([typeof tokens, names.length, typeof next]).toEqual(["number", 2, "string"]);
    expect(await read(url, token, "demo", "weather")).toBeGreaterThan(0);
  });

  it("gets errors with their codes", async () => {
    expect(await failure(url)).toEqual({ status: 400, code: "ErrorBadRequest" });
    expect(await read(url, "no.such.token", "demo", "weather")).toBe("ErrorUnauthorized");
  });
});
