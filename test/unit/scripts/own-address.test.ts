import { hostname } from "node:os";
import { describe, expect, it } from "vitest";
import { ownAddress } from "../../../scripts/own-address.ts";

const loopback = ["localhost", "127.0.0.1", "[::1]"];

describe("where an embedded server says that it is reached", () => {
  it.each([
    ["127.0.0.1", "http://127.0.0.1:8787", loopback],
    ["localhost", "http://localhost:8787", loopback],
    ["::1", "http://[::1]:8787", loopback],
    ["10.0.0.1", "http://10.0.0.1:8787", [...loopback, "10.0.0.1"]],
    ["registry.lan", "http://registry.lan:8787", [...loopback, "registry.lan"]],
  ])("is loopback, and %s that it listens on", (host, origin, names) => {
    const { MCP_HOSTS, DEFAULT_ORIGIN, CLIENT_ADDRESS } = ownAddress(host, 8787, false);
    expect([MCP_HOSTS?.split(","), DEFAULT_ORIGIN, CLIENT_ADDRESS]).toEqual([names, origin, "socket"]);
  });

  it.each(["0.0.0.0", "::"])("is every address of the machine where it listens on %s", (host) => {
    const { MCP_HOSTS = "", DEFAULT_ORIGIN } = ownAddress(host, 80, false);
    expect(MCP_HOSTS.split(",")).toEqual(expect.arrayContaining([...loopback, hostname()]));
    expect(MCP_HOSTS).not.toContain("0.0.0.0");
    expect(DEFAULT_ORIGIN).toBe("http://localhost");
  });

  it("is left to PUBLIC_URL where that is set", () => {
    expect(ownAddress("0.0.0.0", 80, true)).toEqual({ CLIENT_ADDRESS: "socket" });
  });
});
