import { describe, expect, it } from "vitest";
import { refOf, TenantKey, TenantName, tenantKey } from "../../../src/kernel/names.ts";

describe("the name of a tenant", () => {
  it.each(["acme", "Acme", "ACME", "io.github.ChromeDevTools", "7", "a-b.c", "A", "x".repeat(100)])("is %j", (name) => {
    expect(TenantName.parse(name)).toBe(name);
    expect(TenantKey.parse(name)).toBe(tenantKey(name));
  });

  it.each([
    ...["", ".a", "-a", "a_b", "a/b", "a b", "a\n", "*", "x".repeat(101)],
    // Lower-cased as Unicode, the first two would be "kelvin" and "i̇stanbul"; the others only look like letters.
    ...["\u212aelvin", "\u0130stanbul", "\u017fteel", "\u0410cme", "\uff21cme", "acm\u00c9"],
  ])("is not %j", (name) => {
    expect(TenantName.safeParse(name).success).toBe(false);
    expect(TenantKey.safeParse(name).success).toBe(false);
  });
});

describe("the key of a tenant", () => {
  it("is the same for every spelling, and its own key", () => {
    for (const name of ["io.github.ChromeDevTools", "IO.GITHUB.CHROMEDEVTOOLS", "io.github.chromedevtools"]) {
      expect(tenantKey(name)).toBe("io.github.chromedevtools");
      expect(tenantKey(tenantKey(name))).toBe(tenantKey(name));
    }
  });

  it("changes nothing but A to Z", () => {
    const others = Array.from({ length: 0x3_000 }, (_, code) => String.fromCharCode(code)).filter(
      (character) => !/[A-Z]/.test(character),
    );
    for (const character of [...others, "\u212a", "\ud801\udc00"]) expect(tenantKey(character)).toBe(character);
  });

  it("comes with the name of a server, which keeps its case", () => {
    expect(refOf({ tenant: "Acme", name: "Weather" })).toEqual({ tenant: "acme", name: "Weather" });
  });
});
