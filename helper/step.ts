import { parseJsonObject, type JsonObject } from "../contract/json.ts";
import type { StepPath } from "../contract/ids.ts";
import {
  defaultRoot,
  rootFiles,
  rootVariable,
  selfVariable,
  stepPathOfSelf,
} from "../contract/layout.ts";
import type { Limits } from "../contract/limits.ts";
import { parseStepLimits } from "../contract/step-file.ts";
import {
  mountOf,
  openFileAt,
  openFolder,
  openFolderAt,
  withFd,
  type MountId,
  type Refusal,
} from "./descriptors.ts";
import { readUpTo } from "./read-up-to.ts";
import { Folder } from "./folder.ts";
import { toVariablesError, VariablesError } from "./variables-error.ts";

/** The environment: only WORKFLOW_VARIABLES_ROOT and WORKFLOW_VARIABLES_SELF are read, and they hold paths, never values (WV-1). */
export type Env = Readonly<Record<string, string | undefined>>;

/** This step and what it sees, its folders open. */
export interface Step {
  readonly path: StepPath;
  /** Path of the own folder. */
  readonly self: string;
  readonly limits: Limits;
  /** `.step` as it stands, which the agent may have written; empty where there is none. */
  readonly untrustedStepFile: JsonObject;
  readonly root: Folder;
  readonly own: Folder;
}

/** `.step` declares at most 1024 outputs; a larger file is not one. */
const maxStepFileBytes = 1024 ** 2;
/** Linux's PATH_MAX. */
const maxPathBytes = 4096;

/**
 * Finds this step (WV-1, WV-13): from the two variables, else `/variables` and then `.self`. Its folders are open only while `use` runs.
 * Throws VariablesError alone: `no_variables`, `unsafe_path`, whatever `use` throws, and the system's errors as `io_error` or `disk_full`.
 */
export function withStep<T>(env: Env, use: (step: Step) => T): T {
  try {
    const rootPath = tidyPath(env[rootVariable]) ?? defaultRoot;
    return withFd(must(openFolder(rootPath), "the folder of variables"), (rootFd) => {
      const mount = mountOf(rootFd);
      const { path, self } = findSelf(env, rootPath, rootFd);
      const untrustedStepFile = readStepFile(rootFd);
      return withFd(openOwn(rootFd, path, mount), (ownFd) =>
        use({
          path,
          self,
          // Limits only inform here: the sidecar has its own.
          limits: parseStepLimits(untrustedStepFile),
          untrustedStepFile,
          root: new Folder("root", 0, mount, [rootFd]),
          own: new Folder("step", path.segments.length, mount, [ownFd]),
        }),
      );
    });
  } catch (error) {
    throw toVariablesError(error);
  }
}

function findSelf(env: Env, rootPath: string, rootFd: number): { path: StepPath; self: string } {
  const self =
    tidyPath(env[selfVariable]) ??
    tidyPath(readRootFile(rootFd, rootFiles.self, maxPathBytes)?.toString());
  if (self === undefined) {
    throw new VariablesError(
      "no_variables",
      `neither ${selfVariable} nor ${rootFiles.self} says which folder is the step's own: run inside a step`,
    );
  }
  const path = stepPathOfSelf(rootPath, self);
  if (path === undefined) {
    throw new VariablesError(
      "no_variables",
      `${selfVariable} or ${rootFiles.self} names no step's folder: it must be <root>/<step> or <root>/<loop>_<n>/<step>`,
    );
  }
  return { path, self };
}

function openOwn(rootFd: number, path: StepPath, mount: MountId): number {
  const [first, second] = path.segments;
  const outer = must(openFolderAt(rootFd, first, mount), "the step's own folder");
  if (second === undefined) return outer;
  return withFd(outer, () => must(openFolderAt(outer, second, mount), "the step's own folder"));
}

function must(fd: number | Refusal, what: string): number {
  if (fd === "absent") {
    throw new VariablesError(
      "no_variables",
      `${what} does not exist: run inside a step, or set ${rootVariable} and ${selfVariable}`,
    );
  }
  if (fd === "unsafe") {
    throw new VariablesError(
      "unsafe_path",
      `${what} is a link, no folder, closed to this user, or on another mount: put a plain folder there`,
    );
  }
  return fd;
}

/** One that does not parse is none, so that the defaults hold. */
function readStepFile(rootFd: number): JsonObject {
  const bytes = readRootFile(rootFd, rootFiles.step, maxStepFileBytes);
  return (bytes && parseJsonObject(bytes)) ?? {};
}

/** A file directly under the root; undefined where there is none, or no plain one of that size. */
function readRootFile(rootFd: number, name: string, maxBytes: number): Buffer | undefined {
  const fd = openFileAt(rootFd, name);
  if (typeof fd !== "number") return undefined;
  const bytes = withFd(fd, () => readUpTo(fd, maxBytes + 1));
  return bytes.length > maxBytes ? undefined : bytes;
}

/** Empty is missing. Doubled and trailing slashes go: a trailing one would have the kernel follow a link. */
function tidyPath(path: string | undefined): string | undefined {
  if (path === undefined || path === "") return undefined;
  if (!path.startsWith("/")) {
    throw new VariablesError(
      "no_variables",
      `${rootVariable}, ${selfVariable} and ${rootFiles.self} must hold absolute paths`,
    );
  }
  return path.replace(/\/{2,}/g, "/").replace(/(?<=.)\/$/, "");
}
