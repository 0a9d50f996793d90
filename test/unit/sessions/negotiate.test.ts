import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { heldCapabilities, negotiate, negotiateParameters, type Offer } from "../../../src/sessions/negotiate.ts";

const offers: Offer[] = [
  { name: "plain", description: "One version.", versions: [{ version: "1.0.0" }] },
  {
    name: "many",
    description: "Several versions.",
    versions: [
      { version: "1.0.0", parameters: { size: 10 } },
      { version: "1.2.0", parameters: { size: 20 } },
      { version: "2.0.0", parameters: { size: 30 } },
    ],
  },
];

const detail = (name: string, version: string, parameters?: Record<string, unknown>) => ({
  name,
  version,
  description: "",
  ...(parameters === undefined ? {} : { parameters }),
});

describe("versions", () => {
  const settled = (...versions: string[]) =>
    negotiate(
      {
        supported_capabilities: ["many"],
        capability_details: Object.fromEntries(versions.map((version) => [`many@${version}`, detail("many", version)])),
      },
      offers,
    );

  it.each([
    [["1.0.0"], "1.0.0"],
    [["1.0.0", "1.2.0"], "1.2.0"],
    [["1.2.0", "1.0.0"], "1.2.0"],
    [["1.0.0", "2.0.0", "3.0.0"], "2.0.0"],
    [["9.9.9", "1.0.0"], "1.0.0"],
    [["1.2.0+build.7"], "1.2.0"],
    // Of the same major, the lower of the two.
    [["1.9.0"], "1.2.0"],
    [["1.1.0"], "1.1.0"],
    [["1.1.0+build.7"], "1.1.0"],
    [["2.4.1"], "2.0.0"],
    [["1.9.0", "2.0.0-rc.1"], "1.2.0"],
    [["1.9.0", "3.0.0"], "1.2.0"],
  ])("a client with %j gets %s", (versions, expected) => {
    expect(settled(...versions).capabilities).toMatchObject([{ name: "many", version: expected }]);
  });

  it("are the newest for a client that gives none", () => {
    const { capabilities } = negotiate({ supported_capabilities: ["many"] }, offers);
    expect(capabilities).toEqual([{ name: "many", version: "2.0.0", parameters: { size: 30 } }]);
  });

  it("without a common one decline the capability and name both sides", () => {
    const { capabilities, declined } = settled("0.9.0", "3.0.0");
    expect(capabilities).toEqual([]);
    expect(declined).toEqual([
      {
        name: "many",
        reason: "version",
        message: "No common version: the client has 0.9.0, 3.0.0, the server 1.0.0, 1.2.0, 2.0.0",
      },
    ]);
  });

  it("do not take a pre-release for its release", () => {
    expect(settled("2.0.0-rc.1").declined).toMatchObject([{ name: "many", reason: "version" }]);
  });

  it("bring the parameters of the version that was settled", () => {
    const request = {
      supported_capabilities: ["many"],
      capability_details: {
        old: detail("many", "1.0.0", { size: 1 }),
        new: detail("many", "1.2.0", { size: 2 }),
      },
    };
    expect(negotiate(request, offers).capabilities[0]).toMatchObject({ version: "1.2.0", parameters: { size: 2 } });
  });

  it("that only one side has bring the parameters of the nearest that the other has", () => {
    const sizes = (...details: ReturnType<typeof detail>[]) =>
      negotiate(
        {
          supported_capabilities: ["many"],
          capability_details: Object.fromEntries(details.map((one) => [one.version, one])),
        },
        offers,
      ).capabilities[0];
    // The server's parameters of 1.0.0: those of 1.2.0 may be news to a client of 1.1.0.
    expect(sizes(detail("many", "1.1.0", { size: 99 }))).toMatchObject({ version: "1.1.0", parameters: { size: 10 } });
    const both = [detail("many", "2.1.0", { size: 1 }), detail("many", "2.7.0", { size: 2 })];
    expect(sizes(...both)).toMatchObject({ version: "2.0.0", parameters: { size: 1 } });
  });

  it("settle on one of the two that were named, whatever they are", () => {
    const version = fc
      .tuple(fc.nat(3), fc.nat(3), fc.nat(3))
      .map(([major, minor, patch]) => `${major}.${minor}.${patch}`);
    fc.assert(
      fc.property(version, version, (client, server) => {
        const { capabilities, declined } = negotiate(
          { supported_capabilities: ["one"], capability_details: { one: detail("one", client) } },
          [{ name: "one", description: "", versions: [{ version: server }] }],
        );
        if (client.split(".")[0] === server.split(".")[0]) {
          expect(capabilities).toEqual([{ name: "one", version: [client, server].sort()[0] }]);
        } else {
          const message = `No common version: the client has ${client}, the server ${server}`;
          expect(declined).toEqual([{ name: "one", reason: "version", message }]);
        }
      }),
    );
  });
});

describe("names", () => {
  it("that are unknown are declined, recorded, and count as held", () => {
    const declared = ["plain", "com.example/own"];
    const negotiated = negotiate({ supported_capabilities: declared }, offers);
    expect(negotiated.capabilities).toEqual([{ name: "plain", version: "1.0.0" }]);
    expect(negotiated.declined).toMatchObject([{ name: "com.example/own", reason: "unknown" }]);
    expect(heldCapabilities(declared, negotiated)).toEqual(declared);
  });

  it("that only the server has need not be declared, and are said to be there", () => {
    const declared = ["tools", "plain"];
    const negotiated = negotiate({ supported_capabilities: declared }, offers, ["tools", "plain"]);
    expect(negotiated.capabilities).toEqual([{ name: "plain", version: "1.0.0" }]);
    expect(negotiated.declined).toEqual([
      { name: "tools", reason: "server", message: expect.stringContaining("a client need not declare it") },
    ]);
    expect(heldCapabilities(declared, negotiated)).toEqual(declared);
  });

  it("whose version is not spoken here are not held", () => {
    const request = { supported_capabilities: ["plain"], capability_details: { plain: detail("plain", "7.0.0") } };
    expect(heldCapabilities(["plain"], negotiate(request, offers))).toEqual([]);
  });

  it("with details and without a declaration are named", () => {
    const request = { supported_capabilities: [], capability_details: { plain: detail("plain", "1.0.0") } };
    expect(negotiate(request, offers)).toMatchObject({
      capabilities: [],
      declined: [{ name: "plain", reason: "undeclared" }],
    });
  });

  it("are each agreed on or declined, once", () => {
    const name = fc.constantFrom("plain", "many", "x", "y", "__proto__", "constructor");
    fc.assert(
      fc.property(
        fc.uniqueArray(name),
        fc.dictionary(
          fc.string(),
          fc.record({ name, version: fc.constantFrom("1.0.0", "1.2.0", "4.0.0"), description: fc.constant("") }),
        ),
        (names, details) => {
          const { capabilities, declined } = negotiate(
            { supported_capabilities: names, capability_details: details },
            offers,
          );
          const answered = [...capabilities, ...declined.filter(({ reason }) => reason !== "undeclared")];
          expect(answered.map((one) => one.name).sort()).toEqual([...names].sort());
        },
      ),
    );
  });
});

describe("parameters", () => {
  const server = { size: 10, fast: true, off: false, formats: ["a", "b"], mode: "strict", nested: { a: 1 } };

  it.each([
    ["a smaller number", { size: 3 }, { size: 3 }],
    ["a larger number", { size: 30 }, { size: 10 }],
    ["true and true", { fast: true }, { fast: true }],
    ["false and true", { fast: false }, { fast: false }],
    ["true and false", { off: true }, { off: false }],
    ["part of a list", { formats: ["b", "c"] }, { formats: ["b"] }],
    ["a longer list", { formats: ["c", "b", "a"] }, { formats: ["a", "b"] }],
    ["the same text", { mode: "strict" }, { mode: "strict" }],
  ])("%s", (_, client, expected) => {
    const { parameters, conflicts } = negotiateParameters(client, server);
    expect(parameters).toEqual({ ...server, ...expected });
    expect(conflicts).toEqual([]);
  });

  it.each([
    ["other text", { mode: "loose" }, "the two values differ"],
    ["lists apart", { formats: ["z"] }, "the two lists have nothing in common"],
    ["an empty list", { formats: [] }, "the two lists have nothing in common"],
    ["text for a number", { size: "10" }, "is a string here and a number there"],
    ["null for a number", { size: null }, "is null here and a number there"],
    ["a list for an object", { nested: [] }, "is a list here and an object there"],
    ["another object", { nested: { a: 1 } }, "the two values differ"],
  ])("%s conflict by name and leave the server's value", (_, client, message) => {
    const { parameters, conflicts } = negotiateParameters(client, server);
    const [parameter] = Object.keys(client) as [keyof typeof server];
    expect(conflicts).toEqual([
      { parameter, client: client[parameter as keyof typeof client], server: server[parameter], message },
    ]);
    expect(parameters).toEqual(server);
  });

  it("that only the server has stand; those that only the client has are named and dropped", () => {
    expect(negotiateParameters({ other: 1 }, { size: 1 })).toEqual({
      parameters: { size: 1 },
      conflicts: [],
      ignored: ["other"],
    });
  });
});
