import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type * as helper from "../../helper/index.ts";
import { medianRatio, type Figure } from "./ratio.ts";

type Helper = typeof helper;

const { load } = createRequire(import.meta.url)(
  resolve("dist", "agent", "variables", "index.cjs"),
) as Helper;

const calls = 500;

/** `load` in process, of an own key among others, against a bare read of its file. */
export async function benchLoad(): Promise<Figure[]> {
  const small = await ownFolderOf(10, (few) =>
    medianRatio(
      () => repeat(() => load("k3")),
      () => repeat(() => readFileSync(few, "utf8")),
    ),
  );
  // Linear in siblings: 100 times as many cost at most 100 times as much, and far less while other work outweighs them.
  const large = await ownFolderOf(1000, (many) =>
    medianRatio(
      () => repeat(() => load("k3")),
      () => repeat(() => readFileSync(many, "utf8")),
    ),
  );
  const floor = "readFileSync";
  return [
    { name: "load, own key among 10 files", ratio: small, floor },
    { name: "load, own key among 1000 files", ratio: large, floor },
  ];
}

function repeat(use: () => unknown): void {
  for (let i = 0; i < calls; i += 1) use();
}

async function ownFolderOf<T>(files: number, use: (file: string) => Promise<T>): Promise<T> {
  const root = mkdtempSync(join(tmpdir(), "wfvar-bench-"));
  const own = join(root, "judge");
  mkdirSync(own);
  for (let i = 0; i < files; i += 1) writeFileSync(join(own, `K${String(i)}`), "value");
  process.env["WORKFLOW_VARIABLES_ROOT"] = root;
  process.env["WORKFLOW_VARIABLES_SELF"] = own;
  try {
    return await use(join(own, "K3"));
  } finally {
    rmSync(root, { recursive: true });
  }
}
