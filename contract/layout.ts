import { parseKey } from "./key.ts";
import { parseStepPath, type StepPath } from "./ids.ts";

/** Where things stand under the root (WV-1), and how a key is spelled on disk (WV-2). */

export const defaultRoot = "/variables";
export const rootVariable = "WORKFLOW_VARIABLES_ROOT";
export const selfVariable = "WORKFLOW_VARIABLES_SELF";

/** The folder of the run's frozen inputs. */
export const workflowFolder = "workflow";

export const rootFiles = {
  self: ".self",
  step: ".step",
  context: ".context",
  prompt: ".prompt",
  started: ".started",
  done: ".done",
  socket: ".sidecar.sock",
} as const;

/** The only dotfiles that a prefill may bring; the sidecar makes `.self`. */
export const prefillFiles: ReadonlySet<string> = new Set([
  rootFiles.step,
  rootFiles.context,
  rootFiles.prompt,
]);

/**
 * A full key's path under the root, folders lowercase and the leaf uppercase:
 * `judge.findings.high` is `["judge", "findings", "HIGH"]`. Files under `workflow/` are flat and lowercase.
 */
export function layoutKey(segments: readonly string[]): string[] {
  const [first, ...rest] = segments;
  if (first === undefined) throw new RangeError("a key has at least one segment");
  if (first === workflowFolder && rest.length > 0) return [first, rest.join(".")];
  return [...segments.slice(0, -1), (segments.at(-1) ?? "").toUpperCase()];
}

/**
 * The step path that the own folder's path spells, `/variables/review-loop_2/judge`; undefined where it does
 * not.
 */
export function stepPathOfSelf(root: string, self: string): StepPath | undefined {
  const prefix = root.endsWith("/") ? root : `${root}/`;
  if (!self.startsWith(prefix)) return undefined;
  return parseStepPath(self.slice(prefix.length).replace(/\/$/, "").replaceAll("/", "."));
}

/** True where a leaf and a folder of one name cannot stand side by side: no letter tells them apart. */
export function leafShadowsFolder(segment: string): boolean {
  return segment.toUpperCase() === segment.toLowerCase();
}

export type PrefillEntry =
  | { readonly kind: "dotfile"; readonly path: readonly [string] }
  | { readonly kind: "file" | "folder"; readonly path: readonly string[] };

/**
 * Checks one name of a prefill tar (WV-1, WV-2): a dotfile that a prefill may bring, a folder, or a leaf of a
 * valid key. Undefined for everything else: absolute, `..`, `./x`, empty parts, control bytes, any other
 * dotfile.
 */
export function parsePrefillName(name: string, isFolder: boolean): PrefillEntry | undefined {
  if (!isFolder && prefillFiles.has(name)) return { kind: "dotfile", path: [name] };
  const path = (isFolder ? name.replace(/\/$/, "") : name).split("/");
  const [first = "", second] = path;
  // A leaf directly under the root would belong to no step; a dot inside a name is for workflow/ alone.
  if (!isFolder && second === undefined) return undefined;
  const flat = first.toLowerCase() === workflowFolder;
  if (flat && (path.length > 2 || (isFolder && path.length > 1))) return undefined;
  if (!flat && path.some((part) => part.includes("."))) return undefined;
  if ("problem" in parseKey(path.join("."))) return undefined;
  return { kind: isFolder ? "folder" : "file", path };
}
