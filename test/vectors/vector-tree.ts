import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { namedPath, snapshotOf, type Snapshot } from "./snapshot.ts";
import { bytesOf, inRoot, type Node, type Vector } from "./vector.ts";

/** A vector's tree on the real file system. */
export interface VectorTree {
  readonly root: string;
  /** The variables of WV-1 as the vector has them. */
  readonly env: Readonly<Record<string, string>>;
  /** What must stand there after the vector's call. */
  readonly expected: Snapshot;
  remove(): void;
}

export function makeVectorTree({
  step = "judge",
  before = {},
  after = {},
  env,
}: Vector): VectorTree {
  const root = mkdtempSync(join(tmpdir(), "wfvar-vector-"));
  const paths = Object.keys(before);
  // The own folder exists, unless the vector puts something else there or on the way.
  if (!paths.some((path) => `${step}/`.startsWith(`${path}/`)))
    mkdirSync(join(root, step), { recursive: true });
  for (const path of paths) makeNode(root, path, before[path] ?? "");
  // Last: a closed folder could not be filled.
  for (const path of paths) setMode(root, path, before[path] ?? "");
  const expected = snapshotOf(root);
  for (const [path, node] of Object.entries(after)) {
    const name = path.replace(/\/$/, "");
    if (node === null) delete expected[name];
    else expected[name] = describeNew(path, node, root);
  }
  const variables = {
    WORKFLOW_VARIABLES_ROOT: "$ROOT",
    WORKFLOW_VARIABLES_SELF: `$ROOT/${step}`,
    ...env,
  };
  return {
    root,
    env: Object.fromEntries(
      Object.entries(variables).flatMap(([name, value]) =>
        value === null ? [] : [[name, inRoot(value, root)]],
      ),
    ),
    expected,
    remove: () => {
      for (const path of paths) if (path.endsWith("/")) chmodSync(namedPath(root, path), 0o755);
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function makeNode(root: string, path: string, node: Node): void {
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  mkdirSync(namedPath(root, folder), { recursive: true });
  if (path.endsWith("/")) return;
  const target = namedPath(root, path);
  if (typeof node === "object" && "link" in node) symlinkSync(inRoot(node.link, root), target);
  else if (typeof node === "object" && "odd" in node) makeOdd(target.toString(), node.odd);
  else writeFileSync(target, fileBytes(node, root));
}

function makeOdd(target: string, kind: "fifo" | "socket" | "device"): void {
  if (kind === "fifo") execFileSync("mkfifo", [target]);
  else if (kind === "device") execFileSync("mknod", [target, "c", "1", "3"]);
  else {
    const script = "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])";
    execFileSync("python3", ["-ISc", script, target]);
  }
}

function setMode(root: string, path: string, node: Node): void {
  if (typeof node === "object" && "mode" in node && node.mode !== undefined)
    chmodSync(namedPath(root, path), Number.parseInt(node.mode, 8));
}

/** WV-13: what is written has mode 0644, a folder that is made 0755. */
function describeNew(path: string, node: Node, root: string): string {
  return path.endsWith("/")
    ? "folder 0755"
    : `file 0644 ${fileBytes(node, root).toString("latin1")}`;
}

function fileBytes(node: Node, root: string): Buffer {
  if (typeof node === "string" || "base64" in node || "repeat" in node || "parts" in node)
    return bytesOf(node, root);
  if ("link" in node || "odd" in node) throw new TypeError("only a file has bytes");
  return bytesOf(node.content ?? "", root);
}
