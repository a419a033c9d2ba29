import { createHash } from "node:crypto";
import { closeSync } from "node:fs";
import { extract, type Extract, type Header } from "tar-stream";
import type { StepPath } from "../contract/ids.ts";
import { layoutKey, parsePrefillName } from "../contract/layout.ts";
import { maxPrefillBytes, maxPrefillEntries } from "../contract/limits.ts";
import { feedTar, parseContentDigest } from "../contract/tar-feed.ts";
import { TarError } from "../contract/tar-guard.ts";
import { onVolume, writeAll, type PrefillWriter } from "./prefill-writer.ts";
import { SidecarError } from "./sidecar-error.ts";

/** The response that brings a prefill. */
export interface PrefillAnswer {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: AsyncIterable<unknown>;
}

/** What one answer held. */
export interface UnpackedPrefill {
  readonly files: number;
  readonly bytes: number;
}

/**
 * Streams a prefill tar into the volume (WV-1; API page, Prefill). Type, name, size and counts of an entry
 * are checked before it is written, the end blocks and the digest before success. Throws `prefill_invalid` or
 * `prefill_too_large` for what the answer holds, `volume_unusable` for the disk, and whatever the network
 * throws.
 */
export async function unpackPrefill(
  answer: PrefillAnswer,
  step: StepPath,
  writer: PrefillWriter,
): Promise<UnpackedPrefill> {
  const expected = parseContentDigest(answer.headers["content-digest"]);
  if (expected === undefined) fail("its Content-Digest is missing or not one sha-256");
  const hash = createHash("sha256");
  const tar = extract();
  const admission = new Admission(step);
  const [read, fed] = await Promise.allSettled([
    writeEntries(tar, admission, writer),
    feedTar(answer.body, hash, tar),
  ]);
  // A failure at one end breaks the other end too: the guard's word counts first, then our own.
  if (fed.status === "rejected" && fed.reason instanceof TarError) fail(fed.reason.message);
  if (read.status === "rejected") throw read.reason;
  if (fed.status === "rejected") throw fed.reason;
  if (hash.digest("base64") !== expected) fail("it does not match its Content-Digest");
  return { files: admission.files, bytes: admission.bytes };
}

/** Decides on each entry by its header alone. */
class Admission {
  readonly #own: string;
  readonly #kinds = new Map<string, "file" | "folder">();
  #entries = 0;
  files = 0;
  bytes = 0;

  constructor(step: StepPath) {
    this.#own = step.segments.join("/");
  }

  /** Where the entry goes, under the root. */
  admit({ name, type, size }: Header): { kind: "file" | "folder"; path: readonly string[] } {
    this.#countEntry();
    if (type !== "file" && type !== "directory") fail("an entry is neither file nor folder");
    if (!Number.isSafeInteger(size) || size < 0) fail("an entry's size is no size");
    const entry = parsePrefillName(name, type === "directory");
    if (entry === undefined) fail("an entry's name is no variable's");
    const kind = entry.kind === "folder" ? "folder" : "file";
    const path = pathOnDisk(entry);
    const joined = path.join("/");
    if (`${joined}/`.startsWith(`${this.#own}/`)) fail("an entry lies in the step's own folder");
    const earlier = this.#kinds.get(joined);
    if (earlier !== undefined && (earlier === "file" || kind === "file")) {
      fail("two entries have one name");
    }
    for (let depth = 1; depth < path.length; depth += 1) {
      const folder = path.slice(0, depth).join("/");
      if (this.#kinds.get(folder) === "file") fail("a file is also a folder");
      // A folder that only its files name costs as much as one with an entry of its own.
      if (!this.#kinds.has(folder)) this.#countEntry();
      this.#kinds.set(folder, "folder");
    }
    this.#kinds.set(joined, kind);
    if (kind === "file") this.files += 1;
    this.bytes += size;
    if (this.bytes > maxPrefillBytes) tooLarge(`more than ${String(maxPrefillBytes)} bytes`);
    return { kind, path };
  }

  #countEntry(): void {
    this.#entries += 1;
    if (this.#entries > maxPrefillEntries) {
      tooLarge(`more than ${String(maxPrefillEntries)} entries`);
    }
  }
}

function pathOnDisk({ kind, path }: { kind: string; path: readonly string[] }): readonly string[] {
  if (kind === "dotfile") return path;
  const lower = path.map((part) => part.toLowerCase());
  return kind === "folder" ? lower : layoutKey(lower);
}

async function writeEntries(
  tar: Extract,
  admission: Admission,
  writer: PrefillWriter,
): Promise<void> {
  for await (const entry of tar) {
    const { kind, path } = admission.admit(entry.header);
    if (kind === "folder") {
      onVolume(() => writer.makeFolder(path));
      entry.resume();
      continue;
    }
    const fd = onVolume(() => writer.createFile(path));
    try {
      for await (const chunk of entry) {
        if (!Buffer.isBuffer(chunk)) throw new TypeError("a tar chunk is not bytes");
        onVolume(() => writeAll(fd, chunk));
      }
    } finally {
      closeSync(fd);
    }
  }
}

function fail(reason: string): never {
  throw new SidecarError("prefill_invalid", `the control plane's prefill is not valid: ${reason}`);
}

function tooLarge(reason: string): never {
  throw new SidecarError(
    "prefill_too_large",
    `the control plane's prefill is too large: ${reason}`,
  );
}
