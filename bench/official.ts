import { writeFile } from "node:fs/promises";
import { runCommand } from "../scripts/command.ts";
import { readSeed, type SeedDocument } from "./corpus/official-seed.ts";
import { startOfficial } from "./harness/official-registry.ts";
import { requireWritable } from "./harness/output.ts";
import { type Peer, type Question, questions } from "./harness/peer.ts";
import { measurePeers, type PeerFigures } from "./harness/peers.ts";
import { officialPaths } from "./harness/read-peers.ts";
import { peerTable } from "./harness/report.ts";
import { startTarget, type Target } from "./harness/target.ts";
import { tryPeer } from "./harness/try-peer.ts";

const help = `
Usage: npm run bench:official [-- --quick] [--json FILE] [--binary FILE]

Runs the official registry 1.8.7 beside this one, with the entries of its first seed in both, and asks both the same three
questions of its API in the same rounds. Takes about three minutes, and the time that go needs to build it. Needs go (unless
--binary is given), PostgreSQL (initdb and postgres, as Debian installs them) and the seed (ROLLCALL_FIXTURES).
  --quick         three short rounds
  --json FILE     writes the figures there as well
  --binary FILE   the official registry, already built
`;

const options = {
  quick: { type: "boolean", default: false },
  json: { type: "string" },
  binary: { type: "string" },
} as const;

await runCommand({ help, options }, async ({ quick, json, binary }) => {
  if (json !== undefined) await requireWritable("--json", json);
  const effort = quick ? { rounds: 3, seconds: 1.5 } : { rounds: 5, seconds: 8 };
  const documents = await readSeed();
  const stops: (() => Promise<void>)[] = [];
  try {
    const official = await startOfficial(documents, { binary, onStep: console.error });
    stops.push(official.stop);
    const target = await startTarget();
    stops.push(target.stop);
    console.error(`Publishing ${documents.length} servers here …`);
    await publishSeed(target, documents);
    const peers: Peer[] = [];
    for (const [name, origin] of [
      ["rollcall", target.url],
      ["official", official.url],
    ] as const) {
      peers.push(await tryPeer({ name, origin, paths: officialPaths, headers: {} }));
    }
    const asked = withTheSame(peers);
    const figures: PeerFigures[] = [];
    for (const question of Object.keys(questions) as Question[]) {
      console.error(questions[question]);
      figures.push(...(await measurePeers(question, asked, { ...effort, connections: 16 })));
    }
    console.log(peerTable(figures));
    if (json !== undefined) await writeFile(json, `${JSON.stringify({ effort, peers: figures }, null, 2)}\n`);
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
});

/** Both are asked for what the first lists first: in each list another server may come first. */
function withTheSame([first, ...others]: readonly Peer[]): Peer[] {
  if (first === undefined) return [];
  return [first, ...others.map((peer) => ({ ...peer, paths: { ...peer.paths, ...first.paths } }))];
}

async function publishSeed(target: Target, documents: readonly SeedDocument[]): Promise<void> {
  const admin = await target.callerOf([], { admin: true });
  const left = documents.values();
  const work = async () => {
    for (const document of left) {
      const response = await fetch(`${target.url}/v0.1/publish`, {
        method: "POST",
        headers: { ...admin, "Content-Type": "application/json" },
        body: JSON.stringify(document),
      });
      if (!response.ok) console.error(`${document.name} is not taken: ${response.status} ${await response.text()}`);
      else await response.arrayBuffer();
    }
  };
  await Promise.all([work(), work(), work(), work()]);
}
