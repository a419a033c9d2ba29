import { readdirSync, readFileSync } from "node:fs";
import { errnoOf } from "./entrypoint-error.ts";

/**
 * Signals every member of a process group; 0 only asks. True where the group has members, zombies and those
 * of another uid included. `group` is the pid of its first process, at least 2: -1 would mean every process
 * there is.
 */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  return send(-group, signal);
}

/** As `signalGroup`, for one process alone. */
export function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  return send(pid, signal);
}

function send(target: number, signal: NodeJS.Signals | 0): boolean {
  if (!Number.isInteger(target) || Math.abs(target) < 2)
    throw new RangeError("not a process of ours");
  try {
    return process.kill(target, signal);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "ESRCH") return false;
    if (errno === "EPERM") return true;
    throw error;
  }
}

/**
 * True where a member of the group can still do something. `kill` cannot tell: it also finds zombies, which
 * stay for ever where PID 1 does not reap. A member that forks between two looks can be missed.
 */
export function isGroupAlive(group: number): boolean {
  if (!signalGroup(group, 0)) return false;
  let zombies = 0;
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const member = readStat(name);
    if (member?.group !== group) continue;
    if (member.state !== "Z" && member.state !== "X") return true;
    zombies += 1;
  }
  // None seen although `kill` found one: `/proc` hides it.
  return zombies === 0;
}

function readStat(pid: string): { readonly state: string; readonly group: number } | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return undefined;
  }
  // `pid (name) state ppid pgrp …`, and the name may hold anything.
  const [state = "", , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ", 3);
  return { state, group: Number(group) };
}
