import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** The cases of `spec/vectors/*.json`; its README describes the format. */

export type Content =
  | string
  | { readonly base64: string }
  | { readonly repeat: string; readonly times: number }
  | { readonly parts: readonly Content[] };

/** What stands at a path: a path that ends in a slash is a folder. */
export type Node =
  | Content
  | { readonly content?: Content; readonly mode?: string }
  | { readonly link: string }
  | { readonly odd: "fifo" | "socket" | "device" };

export interface Vector {
  readonly name: string;
  /** `WV-13` */
  readonly clause: string;
  /** Folder of the step from the root; `judge` unless given. */
  readonly step?: string;
  /** Over the two variables of WV-1; null unsets. */
  readonly env?: Readonly<Record<string, string | null>>;
  readonly before?: Readonly<Record<string, Node>>;
  /** Exactly one of these four. */
  readonly load?: readonly [key: string, defaultValue?: string];
  readonly save?: readonly [key: string, value: Content];
  readonly keys?: readonly [prefix?: string];
  readonly argv?: readonly string[];
  readonly stdin?: Content;
  /** Of a call. */
  readonly result?: Content | readonly string[];
  /** Of a refusal. */
  readonly code?: string;
  /** Of a command. */
  readonly exit?: number;
  readonly stdout?: Content | { readonly starts: string };
  readonly stderr?: string;
  /** What differs afterwards; null is gone. Absent means that nothing does. */
  readonly after?: Readonly<Record<string, Node | null>>;
  /** False where a call has no equal on the command line. */
  readonly commandLine?: false;
  /** Modes bind every user but root. */
  readonly unprivileged?: true;
}

export interface VectorFile {
  /** The file's name without `.json`. */
  readonly name: string;
  readonly about: string;
  readonly cases: readonly Vector[];
}

const folder = resolve(import.meta.dirname, "..", "..", "spec", "vectors");

export function vectorFiles(): VectorFile[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return names.toSorted().map((file) => {
    const read = JSON.parse(readFileSync(join(folder, file), "utf8")) as Omit<VectorFile, "name">;
    return { ...read, name: file.replace(/\.json$/, "") };
  });
}

/** For `it.each`, which would cut a name that it takes from an object. */
export function titled(vectors: readonly Vector[]): [title: string, vector: Vector][] {
  return vectors.map((vector) => [`${vector.name} (${vector.clause})`, vector]);
}

/** The bytes of a content; `$ROOT` in plain text stands for the root's path. */
export function bytesOf(content: Content, root: string): Buffer {
  if (typeof content === "string") return Buffer.from(inRoot(content, root));
  if ("base64" in content) return Buffer.from(content.base64, "base64");
  if ("parts" in content) return Buffer.concat(content.parts.map((part) => bytesOf(part, root)));
  return Buffer.from(content.repeat.repeat(content.times));
}

export function inRoot(text: string, root: string): string {
  return text.replaceAll("$ROOT", root);
}
