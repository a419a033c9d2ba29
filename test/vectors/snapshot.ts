import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Kind, mode and content of everything below a folder, by path. */
export type Snapshot = Record<string, string>;

export function snapshotOf(root: string, folder = ""): Snapshot {
  const found: Snapshot = {};
  for (const name of ifOpen([], () => readdirSync(namedPath(root, folder), "buffer"))) {
    const path = folder + escapeName(name);
    const target = namedPath(root, path);
    const stats = ifOpen(undefined, () => lstatSync(target));
    if (stats === undefined) continue;
    const mode = (stats.mode & 0o7777).toString(8).padStart(4, "0");
    if (stats.isDirectory()) {
      found[path] = `folder ${mode}`;
      Object.assign(found, snapshotOf(root, `${path}/`));
    } else if (stats.isSymbolicLink()) found[path] = `link ${readlinkSync(target)}`;
    else if (stats.isFile())
      found[path] =
        `file ${mode} ${ifOpen("closed", () => readFileSync(target).toString("latin1"))}`;
    else found[path] = `odd ${mode}`;
  }
  return found;
}

/** A path under the root whose bytes may be written `%XX`. */
export function namedPath(root: string, path: string): Buffer {
  const latin1 = path.replace(/%([0-9A-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(latin1, "latin1")]);
}

function escapeName(name: Buffer): string {
  return name
    .toString("latin1")
    .replace(
      /[^ -~]|[%\\]/g,
      (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
    );
}

/** Where the tests run as root nothing is closed. */
function ifOpen<T>(otherwise: T, look: () => T): T {
  try {
    return look();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EACCES") return otherwise;
    throw error;
  }
}
