import { closeSync } from "node:fs";
import type { PackCode } from "../../contract/codes.ts";
import { judgeFolder, type FolderEntry, type FolderVerdict } from "../../contract/folder-rules.ts";
import { compareKeys } from "../../contract/key.ts";
import { leafShadowsFolder } from "../../contract/layout.ts";
import type { Limits } from "../../contract/limits.ts";
import { errnoOf, listFolder, mountOf, openFolder } from "../descriptor.ts";
import type { Issues } from "./issues.ts";
import { readLeaf } from "./read-leaf.ts";

/**
 * The walk of the own folder (WV-11). One descent, each name resolved once, against the descriptor of its
 * parent; folders whose names fold together are walked as one, so collisions are known before anything is
 * read. Time is bounded by the entry limit, memory by the step's byte limit plus one value, open files by the
 * depth times the spellings of a folder.
 */

export interface Value {
  /** Full key: `judge.findings.high`. */
  readonly key: string;
  readonly bytes: Buffer;
}

export interface Walk {
  /** Sorted by key; empty where a limit of the whole pack was exceeded. */
  readonly values: readonly Value[];
  readonly exceeded?: { readonly code: PackCode; readonly limit: number };
}

export interface WalkHooks {
  /** Called after a folder was listed and before anything in it is opened: where an attacker would strike. */
  readonly onListed?: (segments: readonly string[]) => void;
}

interface OpenFolder {
  readonly fd: number;
  /** Relative to the own folder. */
  readonly path: Buffer;
}

/**
 * Walks the folder `ownFd`, whose key is `segments`. Reports to `issues`; throws nothing but a failure of
 * this machine.
 */
export function walk(
  ownFd: number,
  segments: readonly string[],
  limits: Limits,
  issues: Issues,
  hooks: WalkHooks = {},
): Walk {
  return new Walker(mountOf(ownFd), limits, issues, hooks).walk(ownFd, segments);
}

/** Ends the walk at once: the folder has more entries than any step may have. */
class TooManyEntries extends Error {}

class Walker {
  readonly #mount: string;
  readonly #limits: Limits;
  readonly #issues: Issues;
  readonly #hooks: WalkHooks;
  #entries = 0;
  #files = 0;
  #bytes = 0;
  #values: Value[] = [];

  constructor(mount: string, limits: Limits, issues: Issues, hooks: WalkHooks) {
    this.#mount = mount;
    this.#limits = limits;
    this.#issues = issues;
    this.#hooks = hooks;
  }

  walk(fd: number, segments: readonly string[]): Walk {
    const { max_step_entries, max_step_files, max_step_bytes } = this.#limits;
    try {
      this.#walkFolder([{ fd, path: Buffer.alloc(0) }], segments);
    } catch (error) {
      if (!(error instanceof TooManyEntries)) throw error;
      return { values: [], exceeded: { code: "step_entries_exceeded", limit: max_step_entries } };
    }
    if (this.#files > max_step_files) {
      return { values: [], exceeded: { code: "step_files_exceeded", limit: max_step_files } };
    }
    if (this.#bytes > max_step_bytes) {
      return { values: [], exceeded: { code: "step_bytes_exceeded", limit: max_step_bytes } };
    }
    return { values: this.#values.toSorted((a, b) => compareKeys(a.key, b.key)) };
  }

  /** Walks folders that are one by folding. Returns whether a value was accepted anywhere below. */
  #walkFolder(spellings: readonly OpenFolder[], segments: readonly string[]): boolean {
    const verdict = judgeFolder(this.#list(spellings), segments.length);
    this.#hooks.onListed?.(segments);
    this.#files += verdict.files;
    for (const { code, entry } of verdict.skipped) this.#issues.skip(pathOf(entry), code);
    for (const entry of verdict.invalid) {
      this.#issues.reject(pathOf(entry), { code: "invalid_output_key" });
    }
    const fruitful = this.#walkSubfolders(verdict, segments);
    let accepted = fruitful.size > 0;
    for (const [segment, entry] of verdict.leaves) {
      if (leafShadowsFolder(segment) && fruitful.has(segment)) {
        this.#issues.reject(pathOf(entry), { code: "invalid_output_key" });
      } else if (this.#takeLeaf(entry, [...segments, segment].join("."))) {
        accepted = true;
      }
    }
    return accepted;
  }

  #list(spellings: readonly OpenFolder[]): FolderEntry<OpenFolder>[] {
    const entries: FolderEntry<OpenFolder>[] = [];
    for (const origin of spellings) {
      try {
        for (const { name, type } of listFolder(origin.fd)) {
          this.#entries += 1;
          if (this.#entries > this.#limits.max_step_entries) throw new TooManyEntries();
          entries.push({ name, type, origin });
        }
      } catch (error) {
        // Its mode may change between opening and listing.
        if (errnoOf(error) === "") throw error;
        this.#issues.reject(origin.path, { code: "unreadable" });
      }
    }
    return entries;
  }

  /** The segments of those subfolders below which a value was accepted. */
  #walkSubfolders(verdict: FolderVerdict<OpenFolder>, segments: readonly string[]): Set<string> {
    const fruitful = new Set<string>();
    for (const [segment, entries] of verdict.folders) {
      const open = entries.flatMap((entry) => this.#open(entry) ?? []);
      try {
        if (this.#walkFolder(open, [...segments, segment])) fruitful.add(segment);
      } finally {
        for (const { fd } of open) closeSync(fd);
      }
    }
    return fruitful;
  }

  #open(entry: FolderEntry<OpenFolder>): OpenFolder | undefined {
    const path = pathOf(entry);
    let fd: number | undefined;
    try {
      fd = openFolder(entry.origin.fd, nameOf(entry));
      if (mountOf(fd) === this.#mount) return { fd, path };
      this.#issues.skip(path, "skipped_mount");
    } catch (error) {
      this.#reportUnopened(path, errnoOf(error));
    }
    if (fd !== undefined) closeSync(fd);
    return undefined;
  }

  #reportUnopened(path: Buffer, errno: string): void {
    // O_DIRECTORY is checked before O_NOFOLLOW: a link that was swapped in says ENOTDIR or ELOOP, by kernel.
    if (errno === "ELOOP") this.#issues.skip(path, "skipped_symlink");
    else if (errno === "ENOTDIR" || errno === "ENOENT") {
      this.#issues.reject(path, { code: "changed_while_reading" });
    } else this.#issues.reject(path, { code: "unreadable" });
  }

  #takeLeaf(entry: FolderEntry<OpenFolder>, key: string): boolean {
    const { max_step_files, max_value_bytes, max_step_bytes } = this.#limits;
    // Past a limit of the whole pack nothing is accepted: only entries and files are still counted.
    if (this.#files > max_step_files || this.#bytes > max_step_bytes) return false;
    const leaf = readLeaf(entry.origin.fd, nameOf(entry), max_value_bytes);
    if ("skipped" in leaf) {
      this.#issues.skip(pathOf(entry), leaf.skipped);
      return false;
    }
    if ("rejected" in leaf) {
      const { rejected: code, size } = leaf;
      const limit = code === "value_too_large" ? { limit: max_value_bytes } : {};
      this.#issues.reject(pathOf(entry), {
        code,
        key,
        ...(size === undefined ? {} : { size }),
        ...limit,
      });
      return false;
    }
    this.#bytes += leaf.bytes.length;
    if (this.#bytes > max_step_bytes) this.#values = [];
    else this.#values.push({ key, bytes: leaf.bytes });
    return true;
  }
}

/** Only names that passed the segment rule are opened, so they are ASCII. */
function nameOf(entry: FolderEntry<OpenFolder>): string {
  return entry.name.toString("latin1");
}

function pathOf({ name, origin }: FolderEntry<OpenFolder>): Buffer {
  return origin.path.length === 0 ? name : Buffer.concat([origin.path, Buffer.from("/"), name]);
}
