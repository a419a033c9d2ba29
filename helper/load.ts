import { fstatSync, readlinkSync } from "node:fs";
import { atSelf } from "../contract/at.ts";
import { maxSegments } from "../contract/key.ts";
import { workflowFolder } from "../contract/layout.ts";
import { checkedKey } from "./checked-key.ts";
import { readUpTo } from "./read-up-to.ts";
import { EntryBudget } from "./entry-budget.ts";
import { findLeaf } from "./find-leaf.ts";
import type { Folder } from "./folder.ts";
import { barred } from "./obstacle.ts";
import { withoutOwnPrefix } from "./own-prefix.ts";
import { withStep, type Env, type Step } from "./step.ts";
import { adviseOnAbsent } from "./advise-on-absent.ts";
import { checkReadSize, checkSize, decodeValue } from "./value.ts";
import { VariablesError } from "./variables-error.ts";

export interface Value {
  /** Exactly as they stand in the file. */
  readonly bytes: Uint8Array;
  readonly text: string;
}

/**
 * A variable's value (WV-4, WV-13), at most the step's limit. Throws VariablesError: `not_found` where no file has
 * that key, `ambiguous_key`, `value_too_large`, `invalid_value`, `unsafe_path` where only a link or the like has
 * it, and what `withStep` throws.
 */
export function loadValue(env: Env, key: string): Value {
  return look(env, key, readValue, refuseAbsent);
}

/** As `loadValue`, but undefined where no file has that key. */
export function findValue(env: Env, key: string): Value | undefined {
  return look(env, key, readValue, () => undefined);
}

export interface LocatedValue extends Value {
  /** Path of its file when it was read, for whoever opens it with other tools. */
  readonly path: string;
}

/** As `loadValue`, and says where the value stands. */
export function locateValue(env: Env, key: string): LocatedValue {
  return look(env, key, readLocated, refuseAbsent);
}

/** `limit` in bytes. */
type Read<T> = (fd: number, name: string, limit: number) => T;

function look<T, A>(
  env: Env,
  key: string,
  read: Read<T>,
  whenAbsent: (segments: readonly string[], step: Step) => A,
): T | A {
  const segments = checkedKey(key);
  const name = segments.join(".");
  const lookIn = (step: Step): T | A => {
    let refused: VariablesError | undefined;
    for (const { folder, path, budget } of placesOf(segments, step)) {
      const found = findLeaf(folder, path, budget, (fd) =>
        read(fd, name, step.limits.max_value_bytes),
      );
      if (found.status === "found") return found.value;
      if (found.status === "ambiguous") {
        throw ambiguous(name, found.paths, step.root);
      }
      if (found.status === "barred") {
        const behind = found.place === path.join(".") ? undefined : found.place;
        refused ??= barred(
          name,
          behind,
          found.obstacle,
          `put a plain ${behind === undefined ? "file" : "folder"} there`,
        );
      }
    }
    if (refused !== undefined) throw refused;
    return whenAbsent(segments, step);
  };
  return withStep(env, lookIn, name);
}

/** Names of one variable's files that the message lists. */
const maxListedFiles = 4;

function ambiguous(name: string, paths: readonly string[], { fds: [rootFd = -1] }: Folder): Error {
  const root = readlinkSync(atSelf(rootFd));
  // What folds to a key is ASCII and prints.
  const files = paths.map((path) => path.slice(root.length + 1));
  files.sort();
  const listed = files.slice(0, maxListedFiles);
  const more = files.length - listed.length;
  return new VariablesError(
    "ambiguous_key",
    `several files spell ${name} and differ only in case, ${listed.join(", ")}${more > 0 ? ` and ${String(more)} more` : ""}: keep one of them`,
    { key: name },
  );
}

function refuseAbsent(segments: readonly string[], step: Step): never {
  const name = segments.join(".");
  throw new VariablesError(
    "not_found",
    `no variable ${name} is visible to step ${step.path.text}${adviseOnAbsent(segments, step)}`,
    { key: name },
  );
}

interface Place {
  readonly folder: Folder;
  readonly path: readonly string[];
  readonly budget: EntryBudget;
}

/** Where a key may stand, in the order in which it is looked for (WV-13). */
function placesOf(segments: readonly string[], step: Step): Place[] {
  const root = { folder: step.root, budget: EntryBudget.ofRoot() };
  const own = { folder: step.own, budget: EntryBudget.ofStep(step.limits) };
  // The workflow folder is flat: `workflow.item.uuid` is its file `item.uuid`.
  if (segments[0] === workflowFolder)
    return [{ ...root, path: [workflowFolder, segments.slice(1).join(".")] }];
  const inOwn = withoutOwnPrefix(segments, step.path);
  if (inOwn !== undefined) return [{ ...own, path: inOwn }];
  const places: Place[] = [];
  if (step.path.segments.length + segments.length <= maxSegments)
    places.push({ ...own, path: segments });
  // A file directly under the root belongs to no step.
  if (segments.length > 1) places.push({ ...root, path: segments });
  return places;
}

function readValue(fd: number, key: string, limit: number): Value {
  checkSize(fstatSync(fd).size, limit, key);
  const bytes = readUpTo(fd, limit + 1);
  // It may have grown meanwhile.
  checkReadSize(bytes, limit, key);
  return { bytes, text: decodeValue(bytes, key) };
}

function readLocated(fd: number, key: string, limit: number): LocatedValue {
  return { ...readValue(fd, key, limit), path: readlinkSync(atSelf(fd)) };
}
