import { openFolderAt, withFd } from "../descriptors.ts";
import { listEntries } from "../folder.ts";
import type { Step } from "../step.ts";
import { errnoOf } from "../variables-error.ts";
import { issueAdvice } from "../../contract/issue-advice.ts";
import type { SkippedIssue } from "./issue.ts";

/**
 * What stands where no variable can (WV-11): anything but folders and dotfiles at the root, or beside the own
 * folder of a loop step. Paths are relative to the root. Looks at `max_step_entries` of each and no more.
 */
export function findStrays({ root, path, limits }: Step): SkippedIssue[] {
  const [rootFd] = root.fds;
  if (rootFd === undefined) throw new RangeError("the root is open");
  const paths = straysIn(rootFd, "", limits.max_step_entries);
  const [loopFolder] = path.segments;
  if (path.loop !== undefined) {
    const fd = openFolderAt(rootFd, loopFolder, root.mount);
    if (typeof fd === "number") {
      paths.push(...withFd(fd, () => straysIn(fd, `${loopFolder}/`, limits.max_step_entries)));
    }
  }
  return paths.map((stray) => ({
    code: "stray_at_root",
    path: stray,
    advice: issueAdvice.stray_at_root,
  }));
}

function straysIn(fd: number, prefix: string, maxEntries: number): Buffer[] {
  const strays: Buffer[] = [];
  let seen = 0;
  try {
    for (const { name, type } of listEntries(fd)) {
      seen += 1;
      if (seen > maxEntries) break;
      if (type !== "folder" && name[0] !== 0x2e) {
        strays.push(Buffer.concat([Buffer.from(prefix), name]));
      }
    }
  } catch (error) {
    // A folder that was closed hides its strays, and no more.
    if (errnoOf(error) === undefined) throw error;
  }
  return strays;
}
