import { describe, expect, it } from "vitest";
import { followEvents } from "../../../src/console/browser/events.ts";

const encoder = new TextEncoder();

/** A stream that sends the texts, then ends or breaks off. */
function stream(texts: readonly string[], end: "ends" | "breaks"): Response {
  const left = [...texts];
  const body = new ReadableStream({
    pull(controller) {
      const next = left.shift();
      if (next !== undefined) controller.enqueue(encoder.encode(next));
      else if (end === "ends") controller.close();
      else controller.error(new Error("the connection is gone"));
    },
  });
  return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
}

/** Follows scripted answers; the last must be a refusal that is given up on. Returns what happened, in order. */
async function follow(answers: readonly (() => Response)[], again?: number): Promise<string[]> {
  const happened: string[] = [];
  let asked = 0;
  await followEvents({
    url: "/console/api/changes/demo",
    last: "5",
    fetch: async (_, init) => {
      happened.push(`ask after ${new Headers(init?.headers).get("Last-Event-ID")}`);
      return answers[asked++]?.() ?? new Response(null, { status: 401 });
    },
    wait: async (ms) => {
      happened.push(`wait ${ms}`);
    },
    onOpen: () => happened.push("open"),
    onLost: () => happened.push("lost"),
    onEvent: ({ name, id, data }) => happened.push(`${name} ${id} ${data}`),
    onRefused: (status) => {
      happened.push(`refused ${status}`);
      return status === 401 ? undefined : again;
    },
  });
  return happened;
}

describe("following an event stream", () => {
  it("goes on after the last event when the connection is lost, and says so", async () => {
    const first = () => stream(["id: 5\nretry: 2000\n\nid: 6\nevent: ch", 'ange\ndata: {"a":1}\n\n:\n'], "breaks");
    expect(await follow([first])).toEqual([
      "ask after 5",
      "open",
      'change 6 {"a":1}',
      "lost",
      "wait 1000",
      "ask after 6",
      "refused 401",
    ]);
  });

  it("asks again without a word where the registry ended the stream", async () => {
    expect(await follow([() => stream(["id: 9\nevent: change\ndata: 1\n\n"], "ends")])).toEqual([
      "ask after 5",
      "open",
      "change 9 1",
      "wait 1000",
      "ask after 9",
      "refused 401",
    ]);
  });

  it("waits longer each time while nothing answers, and as long as a refusal says", async () => {
    const gone = () => {
      throw new TypeError("fetch failed");
    };
    const happened = await follow([gone, gone, gone, () => new Response(null, { status: 429 })], 15_000);
    expect(happened.filter((line) => line.startsWith("wait"))).toEqual([
      "wait 1000",
      "wait 2000",
      "wait 4000",
      "wait 15000",
    ]);
    expect(happened.at(-1)).toBe("refused 401");
  });
});
