import { escapeText } from "../contract/escape.ts";
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
import { obstacleTexts } from "./obstacle.ts";
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
 * Throws VariablesError alone: `no_variables`, `unsafe_path`, whatever `use` throws, and the system's errors as `io_error` or `disk_full`,
 * of `key` if one is given.
 */
export function withStep<T>(env: Env, use: (step: Step) => T, key?: string): T {
  try {
    const given = tidyPath(env[rootVariable], rootVariable);
    const rootPath = given ?? defaultRoot;
    const root = place("the folder of variables", rootPath, given && rootVariable, rootVariable);
    return withFd(must(openFolder(rootPath), root), (rootFd) => {
      const mount = mountOf(rootFd);
      const { path, self, origin } = findSelf(env, rootPath, rootFd);
      const own = place("the step's own folder", self, origin, selfVariable);
      const untrustedStepFile = readStepFile(rootFd);
      return withFd(openOwn(rootFd, path, mount, own), (ownFd) =>
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
    throw toVariablesError(error, key);
  }
}

interface Self {
  readonly path: StepPath;
  readonly self: string;
  /** What names it. */
  readonly origin: string;
}

function findSelf(env: Env, rootPath: string, rootFd: number): Self {
  const given = tidyPath(env[selfVariable], selfVariable);
  const origin = given === undefined ? rootFiles.self : selfVariable;
  const self =
    given ?? tidyPath(readRootFile(rootFd, rootFiles.self, maxPathBytes)?.toString(), origin);
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
      `${escapeText(self)} (from ${origin}) is no step's folder: it must be <step> or <loop>_<n>/<step> below ${escapeText(rootPath)}`,
    );
  }
  return { path, self, origin };
}

function openOwn(rootFd: number, path: StepPath, mount: MountId, own: NamedFolder): number {
  const [first, second] = path.segments;
  const outer = must(openFolderAt(rootFd, first, mount), own);
  if (second === undefined) return outer;
  return withFd(outer, () => must(openFolderAt(outer, second, mount), own));
}

/** A folder as messages name it, and the variable that would say where it is. */
interface NamedFolder {
  readonly text: string;
  readonly variable: string;
}

function place(
  what: string,
  path: string,
  origin: string | undefined,
  variable: string,
): NamedFolder {
  const from = origin === undefined ? "" : ` (from ${origin})`;
  return { text: `${what} ${escapeText(path)}${from}`, variable };
}

function must(fd: number | Refusal, { text, variable }: NamedFolder): number {
  if (typeof fd === "number") return fd;
  if (fd === "absent") {
    throw new VariablesError(
      "no_variables",
      `${text} does not exist: run inside a step, or set ${variable} to where it is`,
    );
  }
  throw new VariablesError("unsafe_path", `${text} ${obstacleTexts[fd]}: put a plain folder there`);
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
function tidyPath(path: string | undefined, origin: string): string | undefined {
  if (path === undefined || path === "") return undefined;
  if (!path.startsWith("/")) {
    throw new VariablesError(
      "no_variables",
      `${origin} must hold an absolute path, and does not begin with a slash`,
    );
  }
  return path.replace(/\/{2,}/g, "/").replace(/(?<=.)\/$/, "");
}
