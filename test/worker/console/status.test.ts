import { describe, expect, it } from "vitest";
import { noteProblem } from "../../../src/kernel/platform/problems.ts";
import { Registry } from "../support/registry.ts";
import { Visitor } from "./visitor.ts";

const registry = new Registry({ vars: { READ_LIMIT: "1234/5678" } });

describe("the page of the status", () => {
  it("shows everybody health, versions, layers and limits as they are configured", async () => {
    const { status, text } = await new Visitor(registry).get("/status");
    expect(status).toBe(200);
    const health = (await registry.send("GET", "/healthz")).body.data;
    for (const shown of ["● answers", health.version, "2026-07-28", "1,234 a second, 5,678 at once", "8 MiB"])
      expect([shown, text.includes(shown)]).toEqual([shown, true]);
    expect(text).toContain("Counts and latency are shown to admins");
    expect(text).not.toMatch(/undefined|\[object|NaN/);
  });

  it("shows the metrics to admins alone", async () => {
    const member = new Visitor(registry);
    await member.signIn({ sub: "member", tenants: ["demo"] });
    await member.get("/servers");
    expect((await member.get("/status")).text).not.toContain("95 % within");
    const admin = new Visitor(registry);
    await admin.signIn({ sub: "root", tenants: [], admin: true });
    const { text } = await admin.get("/status");
    expect(text).toContain("95 % within");
    expect(text).toContain("<code>page servers</code>");
    expect(text).not.toMatch(/undefined|\[object|NaN/);
  });

  it("says what is wrong where something is", async () => {
    noteProblem("newer-data", Date.now());
    expect((await new Visitor(registry).get("/status")).text).toContain("▲ degraded");
  });
});
