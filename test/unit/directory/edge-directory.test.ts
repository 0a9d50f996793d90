import { beforeEach, describe, expect, it, vi } from "vitest";
import { segmentFormat } from "../../../src/directory/columns.ts";
import type { SyncAnswer } from "../../../src/directory/contract.ts";
import { EdgeDirectory } from "../../../src/directory/edge-directory.ts";
import { encodeSegment } from "../../../src/directory/encode-segment.ts";
import { type Root, rootKey, segmentKey } from "../../../src/directory/root.ts";
import type { Place } from "../../../src/directory/rows.ts";
import type { DirectoryState } from "../../../src/http/directory-state.ts";
import { compareServers } from "../../../src/kernel/names.ts";
import type { CacheApi } from "../../../src/kernel/platform/cache-api.ts";
import { place } from "./places.ts";

const epoch = "e1";
const none = { servers: 0, cards: 0, versions: 0, tokens: 0 };
const tombstone = (tenant: string, name: string) => place(tenant, name, { entry: undefined, cards: [] });

/** What KV shows, and what the object knows: each as a test says, whatever the other has. */
let kv: Map<string, string | ArrayBuffer>;
let answers: (known: DirectoryState | undefined, since?: number) => SyncAnswer;
let clock: number;

beforeEach(() => {
  kv = new Map();
  clock = 1_000_000;
  vi.spyOn(console, "error").mockImplementation(() => {});
});

function bytesOf(places: readonly Place[]): Uint8Array {
  return encodeSegment([...places].sort(compareServers), "inline").bytes;
}

function putSegment(id: number, ...places: Place[]): void {
  const bytes = bytesOf(places);
  kv.set(
    segmentKey(epoch, id),
    bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer,
  );
}

function rootOf(generation: number, ...ids: number[]): Root {
  const segments = ids.map((id) => ({ id, bytes: 0, chunks: 0 }));
  return { epoch, generation, format: segmentFormat, segments, frequencies: none };
}

function isolate(capacity = 56_000_000) {
  const pending: Promise<unknown>[] = [];
  /** Servers of each segment that a form was built of. */
  const built: number[] = [];
  const directory = new EdgeDirectory({
    kv: { get: async (key: string) => kv.get(key) ?? null } as unknown as KVNamespace,
    edge: {
      read: async () => undefined,
      write: async () => {},
      readBytes: async () => undefined,
      writeBytes: async () => {},
    } as unknown as CacheApi,
    directory: () => ({ sync: async (known, since) => answers(known, since) }),
    now: () => clock,
    capacity,
    forms: [{ name: "counted", build: ({ places }) => built.push(places), bytesOf: () => 0 }],
    keepAlive: (promise) => void pending.push(promise),
  });
  return {
    directory,
    built,
    async shown(): Promise<string[] | undefined> {
      await directory.current();
      while (pending.length > 0) await pending.shift();
      const view = await directory.current();
      return view?.segments
        .flatMap(({ segment, isLive }) =>
          Array.from({ length: segment.places }, (_, at) => at)
            .filter((at) => isLive(at) && segment.entryText(at) !== undefined)
            .map((at) => segment.placeAt(at).name),
        )
        .sort();
    },
  };
}

describe("an isolate's copy of everything public", () => {
  it("hides what was deleted by a delayed tombstone alone, whatever segments say", async () => {
    putSegment(1, place("a", "kept"), place("a", "gone"));
    kv.set(rootKey, JSON.stringify(rootOf(5, 1)));
    answers = () => ({ epoch, generation: 5 });
    const copy = isolate();
    expect(await copy.shown()).toEqual(["gone", "kept"]);
    // The tombstone's segment is written, and its root named by the object, but KV shows neither for minutes.
    const newer = rootOf(6, 1, 2);
    answers = (known) => ({
      epoch,
      generation: 6,
      delta: bytesOf([tombstone("a", "gone")]),
      ...(known && { root: newer }),
    });
    clock += 61_000;
    expect(await copy.shown()).toEqual(["kept"]);
    clock += 61_000;
    expect(await copy.shown()).toEqual(["kept"]);
    // It arrives, and is the same.
    putSegment(2, tombstone("a", "gone"));
    answers = (known) =>
      known?.generation === 6
        ? { epoch, generation: 6 }
        : { epoch, generation: 6, delta: bytesOf([tombstone("a", "gone")]), root: newer };
    clock += 61_000;
    expect(await copy.shown()).toEqual(["kept"]);
  });

  it("asks after each write for what that write changed, and shows it with all before it", async () => {
    putSegment(1, place("a", "kept"), place("a", "gone"));
    kv.set(rootKey, JSON.stringify(rootOf(5, 1)));
    answers = () => ({ epoch, generation: 5 });
    const copy = isolate();
    await copy.shown();
    const asked: [root: number | undefined, since: number | undefined][] = [];
    const changes = [place("a", "new"), tombstone("a", "gone"), place("a", "newer"), tombstone("a", "new")];
    for (const [index, change] of changes.entries()) {
      answers = (known, since) => {
        asked.push([known?.generation, since]);
        return { epoch, generation: 6 + index, delta: bytesOf([change]) };
      };
      copy.directory.noteWrite();
      await copy.directory.current();
    }
    expect(asked).toEqual([5, 6, 7, 8].map((since) => [5, since]));
    expect(await copy.shown()).toEqual(["kept", "newer"]);
  });

  it("reads an old root with newer segments beside it as the object says it is now", async () => {
    putSegment(1, place("a", "first"));
    putSegment(2, place("a", "second"));
    kv.set(rootKey, JSON.stringify(rootOf(5, 1)));
    answers = (known) =>
      known?.generation === 5
        ? {
            epoch,
            generation: 7,
            delta: bytesOf([place("a", "second"), tombstone("a", "first")]),
            root: rootOf(7, 1, 2),
          }
        : { epoch, generation: 7 };
    expect(await isolate().shown()).toEqual(["second"]);
  });

  it("asks the object for a root if the one in KV names segments that are gone", async () => {
    putSegment(3, place("a", "now"));
    kv.set(rootKey, JSON.stringify(rootOf(5, 1, 2)));
    answers = (known) =>
      known === undefined ? { epoch, generation: 9, root: rootOf(9, 3) } : { epoch, generation: 9 };
    expect(await isolate().shown()).toEqual(["now"]);
  });

  it("holds two roots within its memory, or lets go of the first while it loads the second", async () => {
    const many = (name: string) => Array.from({ length: 200 }, (_, at) => place("a", `${name}-${1_000 + at}`));
    putSegment(1, ...many("old"));
    putSegment(2, ...many("new"));
    kv.set(rootKey, JSON.stringify(rootOf(5, 1)));
    answers = () => ({ epoch, generation: 5 });
    const size = bytesOf(many("old")).byteLength;
    for (const [capacity, during] of [
      [3 * size, 200],
      [1.5 * size, undefined],
    ] as const) {
      answers = () => ({ epoch, generation: 5 });
      const copy = isolate(capacity);
      expect(await copy.shown()).toHaveLength(200);
      const held: (number | undefined)[] = [];
      answers = (known) => {
        if (known?.generation === 6) held.push(copy.directory.status().segments || undefined);
        return known?.generation === 6
          ? { epoch, generation: 6 }
          : { epoch, generation: 6, delta: bytesOf([tombstone("a", "x")]), root: rootOf(6, 2) };
      };
      clock += 61_000;
      expect((await copy.shown())?.[0]).toBe("new-1000");
      // The first question about the new root comes when it is loaded: is the old one still there?
      expect(held[0] === undefined ? undefined : 200).toBe(during);
    }
  });

  it("counts what has changed since the root, and asks the object if that does not fit", async () => {
    putSegment(1, place("a", "one"));
    kv.set(rootKey, JSON.stringify(rootOf(5, 1)));
    const delta = bytesOf(Array.from({ length: 50 }, (_, at) => place("a", `more-${at}`)));
    answers = () => ({ epoch, generation: 6, delta });
    expect(await isolate(bytesOf([place("a", "one")]).byteLength + delta.byteLength + 10).shown()).toHaveLength(51);
    const small = isolate(delta.byteLength);
    expect(await small.shown()).toBeUndefined();
    expect(small.directory.status().fallbacks).toMatchObject({ "too large": 1 });
  });

  it("reads each segment once, however many requests wait for it", async () => {
    putSegment(1, place("a", "one"), place("a", "two"));
    kv.set(rootKey, JSON.stringify(rootOf(5, 1)));
    answers = () => ({ epoch, generation: 5 });
    const copy = isolate();
    const many = () => Promise.all(Array.from({ length: 50 }, () => copy.directory.current()));
    await many();
    await copy.shown();
    expect(copy.built).toEqual([2]);
    answers = () => ({ epoch, generation: 6, delta: bytesOf([place("a", "three")]) });
    copy.directory.noteWrite();
    const views = await many();
    expect(new Set(views.map((view) => view?.generation))).toEqual(new Set([6]));
    expect(copy.built).toEqual([2, 1]);
  });
});
