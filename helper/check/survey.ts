import { closeSync } from "node:fs";
import type { SkipCode } from "../../contract/codes.ts";
import { judgeFolder, type FolderEntry, type FolderVerdict } from "../../contract/folder-rules.ts";
import { leafShadowsFolder } from "../../contract/layout.ts";
import { mountOf, openPlainFolder } from "../descriptors.ts";
import { EntryBudget } from "../entry-budget.ts";
import { listEntries, nameOf } from "../folder.ts";
import type { Step } from "../step.ts";
import { errnoOf, VariablesError } from "../variables-error.ts";
import { issueAdvice } from "../../contract/issue-advice.ts";
import { adviceOnName, adviceOnShadow } from "./advice.ts";
import { judgeLeaf } from "./judge-leaf.ts";
import type { RejectedIssue, SkippedIssue } from "./issue.ts";

/** What a pack would hold of the own folder if the step ended now. */
export interface Survey {
  /** Full keys, in the order of the walk. */
  readonly accepted: readonly { readonly key: string; readonly size: number }[];
  readonly rejected: readonly RejectedIssue[];
  readonly skipped: readonly SkippedIssue[];
}

interface OpenFolder {
  readonly fd: number;
  /** Relative to the own folder. */
  readonly path: Buffer;
}

/**
 * Walks the own folder by the rules of the pack (WV-2, WV-5, WV-11) and says of every entry what would become
 * of it. Unlike `walk`, which the keys are listed with, it opens every file and keeps what it passes over.
 */
export function survey({ own, limits, path }: Step): Survey {
  const [fd] = own.fds;
  if (fd === undefined) throw new RangeError("the own folder is open");
  const surveyor = new Surveyor(own.mount, { limits });
  return surveyor.survey({ fd, path: Buffer.alloc(0) }, path.segments);
}

class Surveyor {
  readonly #mount: Step["own"]["mount"];
  readonly #limits: Step["limits"];
  readonly #budget: EntryBudget;
  readonly #accepted: { key: string; size: number }[] = [];
  readonly #rejected: RejectedIssue[] = [];
  readonly #skipped: SkippedIssue[] = [];
  #files = 0;
  #bytes = 0;

  constructor(mount: Step["own"]["mount"], { limits }: Pick<Step, "limits">) {
    this.#mount = mount;
    this.#limits = limits;
    this.#budget = EntryBudget.ofStep(limits);
  }

  /** Past a limit of the whole pack that limit stands alone: what else was seen depends on the order of the folder. */
  survey(own: OpenFolder, segments: readonly string[]): Survey {
    const { max_step_entries, max_step_files, max_step_bytes } = this.#limits;
    try {
      this.#walk([own], segments);
    } catch (error) {
      if (!(error instanceof VariablesError && error.code === "step_entries_exceeded")) throw error;
      return nothing("step_entries_exceeded", max_step_entries);
    }
    if (this.#files > max_step_files) return nothing("step_files_exceeded", max_step_files);
    if (this.#bytes > max_step_bytes) return nothing("step_bytes_exceeded", max_step_bytes);
    return { accepted: this.#accepted, rejected: this.#rejected, skipped: this.#skipped };
  }

  /** Walks folders that are one by folding. Gives whether a value was accepted anywhere below. */
  #walk(spellings: readonly OpenFolder[], segments: readonly string[]): boolean {
    const verdict = judgeFolder(this.#list(spellings), segments.length);
    this.#files += verdict.files;
    for (const { code, entry } of verdict.skipped) this.#skip(pathOf(entry), code);
    for (const entry of verdict.invalid) {
      const { name, type, origin } = entry;
      this.#rejected.push({
        code: "invalid_output_key",
        path: pathOf(entry),
        advice: adviceOnName({ name, type, origin: origin.fd }, segments.length),
      });
    }
    const fruitful = this.#walkSubfolders(verdict, segments);
    let isFruitful = fruitful.size > 0;
    for (const [segment, entry] of verdict.leaves) {
      if (leafShadowsFolder(segment) && fruitful.has(segment)) {
        const path = pathOf(entry);
        this.#rejected.push({ code: "invalid_output_key", path, advice: adviceOnShadow });
      } else if (this.#take(entry, [...segments, segment].join("."))) isFruitful = true;
    }
    return isFruitful;
  }

  #list(spellings: readonly OpenFolder[]): FolderEntry<OpenFolder>[] {
    const entries: FolderEntry<OpenFolder>[] = [];
    for (const origin of spellings) {
      try {
        for (const { name, type } of listEntries(origin.fd)) {
          this.#budget.spend();
          entries.push({ name, type, origin });
        }
      } catch (error) {
        if (errnoOf(error) === undefined || error instanceof VariablesError) throw error;
        this.#reject(origin.path, "unreadable");
      }
    }
    return entries;
  }

  /** The segments of the folders below which a value was accepted. */
  #walkSubfolders(verdict: FolderVerdict<OpenFolder>, segments: readonly string[]): Set<string> {
    const fruitful = new Set<string>();
    for (const [segment, entries] of verdict.folders) {
      const open: OpenFolder[] = [];
      try {
        for (const entry of entries) this.#openInto(open, entry);
        if (this.#walk(open, [...segments, segment])) fruitful.add(segment);
      } finally {
        for (const { fd } of open) closeSync(fd);
      }
    }
    return fruitful;
  }

  #openInto(open: OpenFolder[], entry: FolderEntry<OpenFolder>): void {
    const path = pathOf(entry);
    let fd: number;
    try {
      fd = openPlainFolder(entry.origin.fd, nameOf(entry.name));
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === "ELOOP") this.#skip(path, "skipped_symlink");
      else this.#reject(path, goneErrnos.has(errno) ? "changed_while_reading" : "unreadable");
      return;
    }
    // Closed with the others, whatever comes.
    open.push({ fd, path });
    if (mountOf(fd) === this.#mount) return;
    open.pop();
    closeSync(fd);
    this.#skip(path, "skipped_mount");
  }

  #take(entry: FolderEntry<OpenFolder>, key: string): boolean {
    const { max_step_files, max_value_bytes, max_step_bytes } = this.#limits;
    // Nothing is accepted any more: only entries and files are still counted.
    if (this.#files > max_step_files || this.#bytes > max_step_bytes) return false;
    const state = judgeLeaf(entry.origin.fd, nameOf(entry.name), max_value_bytes);
    if ("skipped" in state) this.#skip(pathOf(entry), state.skipped);
    else if ("rejected" in state) {
      const { rejected: code, size } = state;
      this.#reject(pathOf(entry), code, {
        key,
        ...(size === undefined ? {} : { size }),
        ...(code === "value_too_large" ? { limit: max_value_bytes } : {}),
      });
    } else {
      this.#bytes += state.size;
      this.#accepted.push({ key, size: state.size });
      return true;
    }
    return false;
  }

  #reject(
    path: Buffer,
    code: Exclude<RejectedIssue["code"], "invalid_output_key">,
    details: Pick<RejectedIssue, "key" | "size" | "limit"> = {},
  ): void {
    this.#rejected.push({ code, path, advice: issueAdvice[code], ...details });
  }

  #skip(path: Buffer, code: SkipCode): void {
    this.#skipped.push({ code, path, advice: issueAdvice[code] });
  }
}

// O_DIRECTORY is checked before O_NOFOLLOW: a link that was swapped in says ENOTDIR or ELOOP, by kernel.
const goneErrnos: ReadonlySet<string | undefined> = new Set(["ENOTDIR", "ENOENT"]);

function nothing(
  code: "step_entries_exceeded" | "step_files_exceeded" | "step_bytes_exceeded",
  limit: number,
): Survey {
  const rejected = [{ code, path: Buffer.alloc(0), advice: issueAdvice[code], limit }];
  return { accepted: [], rejected, skipped: [] };
}

function pathOf({ name, origin }: FolderEntry<OpenFolder>): Buffer {
  return origin.path.length === 0 ? name : Buffer.concat([origin.path, Buffer.from("/"), name]);
}
