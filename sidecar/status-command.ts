import { closeSync, existsSync, lstatSync } from "node:fs";
import { at } from "../contract/at.ts";
import { escapeText } from "../contract/escape.ts";
import { rootFiles } from "../contract/layout.ts";
import { collect } from "./collect.ts";
import type { Config } from "./config.ts";
import { readMarker } from "./marker.ts";
import { SidecarError } from "./sidecar-error.ts";
import { readState } from "./state-log.ts";
import { openVolume } from "./volume.ts";

/**
 * `wfvar-sidecar status`: where the step stands, from the volume and the sidecar's own last word. Changes
 * nothing. Throws `volume_unusable`.
 */
export async function statusCommand(config: Config, print: (text: string) => void): Promise<void> {
  const { target, terminationLog } = config;
  const { run, step, attempt } = target;
  const rootFd = openSaying(config.root, print);
  try {
    const lines = [
      ["step", `${step.text}, attempt ${String(attempt)}, run ${run}`],
      ["sidecar", sidecarLine(terminationLog)],
      ["agent", agentLine(rootFd)],
      ["folder", folderLine(rootFd, config)],
    ];
    for (const [label = "", text = ""] of lines) print(`${label.padEnd(9)}${escapeText(text)}\n`);
  } finally {
    closeSync(rootFd);
  }
}

/** A person sees no exit code. */
function openSaying(root: string, print: (text: string) => void): number {
  try {
    return openVolume(root);
  } catch (error) {
    if (error instanceof SidecarError) print(`PROBLEM  volume         ${error.message}\n`);
    throw error;
  }
}

function sidecarLine(file: string): string {
  const state = readState(file);
  if (state === undefined) {
    return existsSync(file) ? "has not said anything yet" : `unknown: ${file} is not there to tell`;
  }
  const { at: since, message, accepted, rejectedCount } = state;
  const values = accepted === undefined ? "" : `, ${String(accepted)} values`;
  const rejected = rejectedCount === 0 ? "" : `, ${String(rejectedCount)} rejected`;
  const detail = message === undefined ? "" : ` (${message})`;
  return `${state.state} since ${since}${values}${rejected}${detail}`;
}

function agentLine(rootFd: number): string {
  const marker = readMarker(rootFd);
  if (marker === null) return "over, with a marker that is not valid";
  if (marker !== undefined) {
    const { outcome, exit_code, signal, finished_at } = marker;
    const how = signal === null ? `exit ${String(exit_code)}` : signal;
    return `${outcome} (${how}) at ${finished_at}`;
  }
  return stands(rootFd, rootFiles.started) ? "started, and not over" : "not started";
}

/** What a pack would hold now. */
function folderLine(rootFd: number, { target, limits }: Config): string {
  const { values, rejected, skipped, more } = collect(rootFd, target.step, "marker", limits);
  const bytes = values.reduce((sum, value) => sum + value.bytes.length, 0);
  const counts = new Map(Object.entries(more));
  for (const { code } of [...rejected, ...skipped]) counts.set(code, (counts.get(code) ?? 0) + 1);
  const issues = [...counts].map(([code, count]) => `, ${String(count)} ${code}`).join("");
  return `${String(values.length)} values, ${String(bytes)} bytes${issues}`;
}

function stands(rootFd: number, name: string): boolean {
  return lstatSync(at(rootFd, name), { throwIfNoEntry: false }) !== undefined;
}
