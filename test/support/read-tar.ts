import { extract } from "tar-stream";

export interface TarEntry {
  /** Without a slash at the end. */
  readonly name: string;
  /** As tar-stream names it: `file`, `directory`, … */
  readonly type: string;
  readonly bytes: Buffer;
}

/** Every entry of a tar, in its order. */
export async function readTar(tar: Buffer): Promise<TarEntry[]> {
  const entries: TarEntry[] = [];
  const reader = extract();
  reader.end(tar);
  for await (const entry of reader) {
    const chunks: Buffer[] = [];
    for await (const chunk of entry) chunks.push(chunk as Buffer);
    const { name, type } = entry.header;
    entries.push({ name: name.replace(/\/$/, ""), type: type ?? "", bytes: Buffer.concat(chunks) });
  }
  return entries;
}
