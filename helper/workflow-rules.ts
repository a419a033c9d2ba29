import { judgeFolder, type FolderEntry, type FolderVerdict } from "../contract/folder-rules.ts";
import { maxFlatNameBytes, parseKey } from "../contract/key.ts";
import { workflowFolder } from "../contract/layout.ts";

/** What the entries of `workflow/` are (WV-2, WV-8): flat files whose names may hold dots, `item.uuid`; folders are nothing there. */
export function judgeWorkflowFolder<O>(entries: readonly FolderEntry<O>[]): FolderVerdict<O> {
  const leaves = new Map<string, FolderEntry<O>>();
  const collided = new Set<string>();
  const invalid: FolderEntry<O>[] = [];
  const others: FolderEntry<O>[] = [];
  let files = 0;
  for (const entry of entries) {
    if (entry.name[0] === 0x2e || (entry.type !== "file" && entry.type !== "folder")) {
      others.push(entry);
      continue;
    }
    if (entry.type === "file") files += 1;
    const name = entry.type === "file" ? foldFlatName(entry.name) : undefined;
    const same = name === undefined ? undefined : leaves.get(name);
    if (name === undefined || collided.has(name)) invalid.push(entry);
    else if (same === undefined) leaves.set(name, entry);
    else {
      invalid.push(same, entry);
      leaves.delete(name);
      collided.add(name);
    }
  }
  // Links, pipes and dotfiles are the same nothing in every folder.
  const { skipped } = judgeFolder(others, 1);
  return { leaves, folders: new Map(), invalid, skipped, files };
}

/** `item.uuid` of a name in any case; undefined where `workflow.<name>` is no key. */
export function foldFlatName(name: Uint8Array): string | undefined {
  if (name.length > maxFlatNameBytes) return undefined;
  const key = parseKey(`${workflowFolder}.${Buffer.from(name).toString("latin1")}`);
  return "problem" in key ? undefined : key.segments.slice(1).join(".");
}
