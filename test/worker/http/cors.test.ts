import { describe, expect, it } from "vitest";
import { operations } from "../../../src/operations.ts";
import { capabilities, configs, Registry, token } from "../support/registry.ts";

describe("browsers on other origins", () => {
  const open = new Registry();
  const closed = new Registry({ vars: { CORS_ORIGINS: "https://a.test, https://b.test" } });
  const preflight = (registry: Registry, origin: string, method = "PUT") =>
    registry.send("OPTIONS", capabilities("any", "s"), {
      headers: { Origin: origin, "Access-Control-Request-Method": method },
    });

  it("may do all that the API does, by default", async () => {
    const { status, headers, text } = await preflight(open, "https://anyone.test");
    expect([status, text]).toEqual([204, ""]);
    expect(headers.get("Access-Control-Allow-Origin")).toBe("*");
    for (const method of ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]) {
      expect(headers.get("Access-Control-Allow-Methods")?.split(", ")).toContain(method);
    }
    const allowed = headers.get("Access-Control-Allow-Headers")?.split(", ");
    for (const name of [
      "Authorization",
      "Content-Type",
      "If-Match",
      "If-None-Match",
      "Rollcall-Min-Generation",
      "Cache-Control",
      "X-Request-Id",
    ]) {
      expect(allowed).toContain(name);
    }
  });

  it("may read what answers say of themselves, errors included", async () => {
    const who = await token({ tenants: ["any"] });
    for (const options of [{ token: who }, {}]) {
      const { headers } = await open.send("GET", capabilities("any", "s"), {
        ...options,
        headers: { Origin: "https://anyone.test" },
      });
      expect(headers.get("Access-Control-Allow-Origin")).toBe("*");
      const exposed = headers.get("Access-Control-Expose-Headers")?.split(", ");
      for (const name of [
        "ETag",
        "Rollcall-Generation",
        "Rollcall-Source",
        "Retry-After",
        "X-Request-Id",
        "WWW-Authenticate",
      ]) {
        expect(exposed).toContain(name);
      }
    }
  });

  it.each(operations.map((operation) => [operation.id, operation] as const))(
    "may send and read every header that %s declares",
    async (_, { access, answers, method, parameters }) => {
      const { headers } = await preflight(open, "https://anyone.test");
      const listed = (name: string) => headers.get(`Access-Control-${name}`)?.split(", ") ?? [];
      expect(listed("Allow-Methods")).toContain(method.toUpperCase());
      const sent = [...Object.keys(parameters?.headers ?? {}), ...(access.headers ?? [])];
      expect(sent.filter((name) => !listed("Allow-Headers").includes(name))).toEqual([]);
      const read = Object.values(answers).flatMap((answer) => Object.keys(answer.headers ?? {}));
      expect(read.filter((name) => !listed("Expose-Headers").includes(name))).toEqual([]);
    },
  );

  it.each(["https://a.test", "https://b.test"])("are let in by name: %s", async (origin) => {
    for (const { headers } of [
      await preflight(closed, origin),
      await closed.send("GET", configs, { headers: { Origin: origin } }),
    ]) {
      expect(headers.get("Access-Control-Allow-Origin")).toBe(origin);
      expect(headers.get("Vary")).toBe("Origin");
    }
  });

  it.each([
    "https://c.test",
    "http://a.test",
    "https://a.test.evil.test",
    "https://A.test",
    "https://a.test:8443",
    "null",
    "*",
    "",
  ])("are kept out otherwise: %s", async (origin) => {
    for (const { headers } of [
      await preflight(closed, origin),
      await closed.send("GET", "/healthz", { headers: { Origin: origin } }),
    ]) {
      expect(headers.get("Access-Control-Allow-Origin")).toBeNull();
      expect(headers.get("Vary")).toBe("Origin");
    }
  });

  it("never send cookies along", async () => {
    for (const registry of [open, closed]) {
      expect((await preflight(registry, "https://a.test")).headers.get("Access-Control-Allow-Credentials")).toBeNull();
    }
  });
});
