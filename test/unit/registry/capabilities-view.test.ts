import { describe, expect, it } from "vitest";
import { digestOfText } from "../../../src/kernel/digest.ts";
import type { StoredManifest } from "../../../src/manifest/stored.ts";
import type { Head } from "../../../src/registry/contract.ts";
import { capabilitiesView } from "../../../src/registry/views/capabilities.ts";

const head: Head = {
  tenant: "acme",
  name: "calc",
  digest: "sha256-d",
  visibility: "tenant",
  status: "active",
  generation: 3,
  asOf: 5,
  overlay: 2,
  lastSynced: "2026-01-02T03:04:05.000Z",
  disabled: [{ kind: "tool", key: "off" }],
  flags: [{ rule: "same-version", path: "/version", message: "m" }],
};

const item = (kind: "tool" | "prompt" | "generator", key: string, declared: Record<string, unknown>) => ({
  kind,
  key,
  id: `mcp.calc.${key}`,
  digest: "sha256-i",
  tokens: 10,
  flags: [],
  declared,
});

const manifest: StoredManifest = {
  digest: "sha256-d",
  header: { version: "1.0.0", "x-own": true },
  capabilities: [
    { ...item("tool", "add", { name: "add", metadata: { discovery: { method: "manual" } } }), createdAt: "2025" },
    { ...item("tool", "off", { name: "off" }), flags: [{ rule: "padding", path: "", message: "not shown" }] },
    item("prompt", "ask", { name: "ask" }),
    item("generator", "jinja2", { type: "jinja2" }),
  ],
};

describe("the capabilities view", () => {
  const render = (changes: Partial<Head> = {}) =>
    JSON.parse(capabilitiesView.render(manifest, { ...head, ...changes }) ?? "");

  it("leaves out what is switched off, its flags and its tokens", () => {
    const { data } = render();
    expect(data.tools.map((tool: { name: string }) => tool.name)).toEqual(["add"]);
    expect(data.tokens).toBe(30);
    expect(data.flags).toEqual(head.flags.map((flag) => ({ ...flag, severity: "low" })));
    expect(render({ disabled: [] }).data.tools).toHaveLength(2);
  });

  it("puts the time of first sight back where it was", () => {
    expect(render().data.tools[0].metadata).toEqual({ discovery: { method: "manual", created_at: "2025" } });
  });

  it("shows the four sections of the API always, the others when they hold something", () => {
    expect(Object.keys(render().data)).toEqual(
      expect.arrayContaining(["resources", "resourceTemplates", "generators"]),
    );
    expect(render().data).not.toHaveProperty("operations");
    expect(JSON.parse(capabilitiesView.render(undefined, { ...head, disabled: [] }) ?? "").data).toMatchObject({
      tools: [],
    });
  });

  it("has a new version whenever it renders something else", async () => {
    // When this fails because the output changed, raise capabilitiesView.version: old ETags must not match new bytes.
    const rendered = { [capabilitiesView.version]: await digestOfText(capabilitiesView.render(manifest, head) ?? "") };
    expect(rendered).toEqual({ c4: "sha256-103a3f68b13d93aeba2cb046832275761df9f1fee5b5a7ffe2a800b40c3fd3b9" });
  });
});
