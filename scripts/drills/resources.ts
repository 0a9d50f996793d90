import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** A process and everything it started, by process group, from /proc; nothing where there is no /proc. */
function group(pid: number): number[] {
  return list("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((member) => Number(/\) \S \d+ (\d+)/.exec(read(`/proc/${member}/stat`))?.[1]) === pid);
}

/** Memory that the process group holds, in kB. */
export function residentKilobytes(pid: number): number {
  return sum(group(pid), (member) => Number(/VmRSS:\s+(\d+)/.exec(read(`/proc/${member}/status`))?.[1] ?? 0));
}

export function openFiles(pid: number): number {
  return sum(group(pid), (member) => list(`/proc/${member}/fd`).length);
}

/** Bytes of all files below a folder. */
export function storedBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((total, entry) => total + size(join(entry.parentPath, entry.name)), 0);
}

/** What a process group holds while a drill runs, looked at again and again. */
export class ResourceWatch {
  readonly #points: { kilobytes: number; bytes: number }[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(pid: number, data: string, everyMs: number) {
    this.#timer = setInterval(() => {
      this.#points.push({ kilobytes: residentKilobytes(pid), bytes: storedBytes(data) });
    }, everyMs);
  }

  /**
   * How much more there was in the last third of the time than in the second, in bytes: what fills caches in the first is no
   * growth. The median of each, because garbage comes and goes.
   */
  stop(): { memory: number; storage: number } {
    clearInterval(this.#timer);
    const third = Math.floor(this.#points.length / 3);
    const [second, last] = [this.#points.slice(third, 2 * third), this.#points.slice(2 * third)];
    const growth = (of: (point: { kilobytes: number; bytes: number }) => number) =>
      median(last.map(of)) - median(second.map(of));
    return { memory: growth(({ kilobytes }) => kilobytes) * 1_024, storage: growth(({ bytes }) => bytes) };
  }
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** 0 for what was removed meanwhile. */
function size(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function sum(pids: readonly number[], of: (pid: number) => number): number {
  return pids.reduce((total, pid) => total + of(pid), 0);
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
