import { readdir, readFile, readlink } from "node:fs/promises";

/** What a process holds at the moment. */
export interface ProcessCost {
  residentBytes: number;
  openFiles: number;
}

/** The runtime below a server process; undefined where the system has no /proc. */
export async function runtimeBelow(parent: number): Promise<number | undefined> {
  const ids = await readdir("/proc").catch(() => []);
  for (const id of ids.filter((name) => /^\d+$/.test(name))) {
    const status = await readFile(`/proc/${id}/status`, "utf8").catch(() => "");
    if (!new RegExp(`^PPid:\\s*${parent}$`, "m").test(status)) continue;
    const program = await readlink(`/proc/${id}/exe`).catch(() => "");
    if (program.includes("workerd")) return Number(id);
    const below = await runtimeBelow(Number(id));
    if (below !== undefined) return below;
  }
  return undefined;
}

export async function costOf(id: number): Promise<ProcessCost> {
  const status = await readFile(`/proc/${id}/status`, "utf8");
  const kilobytes = Number(/^VmRSS:\s*(\d+)/m.exec(status)?.[1] ?? 0);
  return { residentBytes: kilobytes * 1_024, openFiles: (await readdir(`/proc/${id}/fd`)).length };
}

/** Starts to count; the result tells how busy all cores were since then, in percent. */
export async function busyCores(): Promise<() => Promise<number>> {
  const before = await coreTimes();
  return async () => {
    const after = await coreTimes();
    return Math.round((100 * (after.busy - before.busy)) / Math.max(1, after.all - before.all));
  };
}

async function coreTimes(): Promise<{ busy: number; all: number }> {
  const [line = ""] = (await readFile("/proc/stat", "utf8").catch(() => "")).split("\n");
  const times = line.split(/\s+/).slice(1, 9).map(Number);
  const all = times.reduce((sum, time) => sum + time, 0);
  // Idle, and waiting for the disk.
  return { busy: all - (times[3] ?? 0) - (times[4] ?? 0), all };
}
