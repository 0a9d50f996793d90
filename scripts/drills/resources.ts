import { readdirSync, readFileSync } from "node:fs";

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
