import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Builds a tree from one line per entry: `judge/` a folder, `judge/VERDICT=text` a file, `judge/L->target` a
 * link, `judge/P|` a FIFO. Folders above are made.
 */
export function makeTree(root: string, lines: readonly string[]): void {
  for (const line of lines) {
    const [, path = "", mark, rest = ""] = /^([^=|>]*?)(\/$|=|->|\|)([^]*)$/.exec(line) ?? [];
    const target = join(root, path);
    mkdirSync(mark === "/" ? target : dirname(target), { recursive: true });
    if (mark === "=") writeFileSync(target, rest);
    else if (mark === "->") symlinkSync(rest, target);
    else if (mark === "|") execFileSync("mkfifo", [target]);
    else if (mark !== "/") throw new Error(`not a tree line: ${line}`);
  }
}
