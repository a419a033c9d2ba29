import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PythonKit } from "../../support/python-kit.ts";

/** A PATH that has Python and the shell's tools, and no Node. */
export interface Image extends Disposable {
  readonly path: string;
}

const tools = "sh readlink env printf cat dd sleep wc head mkdir rmdir".split(" ");

/** `/usr/local/bin/wfvar` is a link into the kit, as in an agent's image. */
export function imageWithout(kit: PythonKit, { python = true } = {}): Image {
  const path = mkdtempSync(join(tmpdir(), "wfvar-image-"));
  mkdirSync(join(path, "bin"));
  for (const tool of tools) {
    const folder = existsSync(join("/bin", tool)) ? "/bin" : "/usr/bin";
    symlinkSync(join(folder, tool), join(path, "bin", tool));
  }
  if (python) symlinkSync(kit.python, join(path, "bin/python3"));
  symlinkSync(kit.launcher, join(path, "bin/wfvar"));
  return {
    path: join(path, "bin"),
    [Symbol.dispose]: () => {
      rmSync(path, { recursive: true, force: true });
    },
  };
}
