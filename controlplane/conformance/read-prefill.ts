import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { extract, type Extract } from "tar-stream";
import { parsePrefillName, workflowFolder } from "../../contract/layout.ts";
import { feedTar } from "../../contract/tar-feed.ts";
import { TarError } from "../../contract/tar-guard.ts";
import { Mismatch, Skipped } from "./check.ts";
import { describeAnswer } from "./expectations.ts";
import type { FreshStep } from "./fixture.ts";
import type { Answer, Subject } from "./subject.ts";

export interface PrefillEntry {
  /** As it stands in the tar; of folders without the slash at the end. */
  readonly name: string;
  readonly kind: "file" | "folder";
  readonly bytes: Buffer;
}

/** What a prefill lets a step see. */
export interface Visible {
  /** By full key, and dotfiles by name. */
  readonly values: ReadonlyMap<string, Buffer>;
  /** Folders with an entry of their own or of something in them, dotted and lowercase. */
  readonly folders: ReadonlySet<string>;
}

/** The entries of a prefill's tar. Throws TarError where it is not a tar of this contract. */
export async function readTar(body: Buffer): Promise<readonly PrefillEntry[]> {
  const tar = extract();
  const [read, fed] = await Promise.allSettled([
    readEntries(tar),
    feedTar(Readable.from([body]), createHash("sha256"), tar),
  ]);
  if (fed.status === "rejected") throw fed.reason;
  if (read.status === "rejected") throw new TarError(String(read.reason));
  return read.value;
}

/**
 * As `readTar`, for checks of what is in it: Skipped where the answer brings no readable tar, which is another
 * check's to say.
 */
export async function readPrefill(answer: Answer): Promise<readonly PrefillEntry[]> {
  if (answer.status !== 200) {
    throw new Skipped(`the prefill cannot be read: ${describeAnswer(answer)}`);
  }
  try {
    return await readTar(answer.body);
  } catch (error) {
    if (error instanceof TarError) {
      throw new Skipped(`the prefill cannot be read: ${error.message}`);
    }
    throw error;
  }
}

/** Fetches a step's prefill and reads what it lets the step see, whatever the spelling. */
export async function fetchVisible(subject: Subject, step: FreshStep): Promise<Visible> {
  const answer = await subject.prefill(step);
  if (answer.status !== 200) throw new Mismatch("a prefill", describeAnswer(answer));
  const values = new Map<string, Buffer>();
  const folders = new Set<string>();
  for (const { name, kind, bytes } of await readPrefill(answer)) {
    const path = parsePrefillName(name, kind === "folder")?.path ?? [name];
    const key = path.join(".").toLowerCase();
    if (kind === "folder") folders.add(key);
    else values.set(key, bytes);
    const depth = path[0] === workflowFolder ? 1 : path.length - 1;
    for (let end = 1; end <= depth; end += 1) {
      folders.add(path.slice(0, end).join(".").toLowerCase());
    }
  }
  return { values, folders };
}

async function readEntries(tar: Extract): Promise<readonly PrefillEntry[]> {
  const entries: PrefillEntry[] = [];
  for await (const entry of tar) {
    const chunks: Buffer[] = [];
    for await (const chunk of entry) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
    const { name, type } = entry.header;
    const bytes = Buffer.concat(chunks);
    if (type === "directory")
      entries.push({ name: name.replace(/\/$/, ""), kind: "folder", bytes });
    else entries.push({ name, kind: "file", bytes });
  }
  return entries;
}
