import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  openSync,
  renameSync,
} from "node:fs";
import { at } from "../contract/at.ts";
import { rootFiles } from "../contract/layout.ts";
import { maxMarkerBytes } from "../contract/limits.ts";
import { formatMarker, type Marker } from "../contract/marker.ts";
import { EntrypointError, errnoOf } from "./entrypoint-error.ts";
import { writeAll } from "./write-all.ts";

/**
 * The completion marker (WV-6). Its room is taken before the agent runs, so that a disk the agent fills
 * cannot lose it; it appears under its name in one step, so that nobody reads half of it.
 */
export class MarkerFile {
  readonly #rootFd: number;
  readonly #room: Room;

  /**
   * A step completes once per pod (WV-15): throws `marker_exists` where anything stands under the marker's
   * name, and leaves it there.
   */
  static refuseSecond(rootFd: number): void {
    try {
      lstatSync(at(rootFd, rootFiles.done));
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return;
      throw unusable(error);
    }
    const message = `${rootFiles.done} stands already: a step completes once per pod, so this container must not be restarted`;
    throw new EntrypointError("marker_exists", message);
  }

  /** Takes the room. Throws `volume_unusable`. */
  constructor(rootFd: number) {
    this.#rootFd = rootFd;
    this.#room = takeRoom(rootFd);
  }

  /** Writes the marker. Replaces one that the agent forged. Throws `volume_unusable`. */
  commit(marker: Marker): void {
    const bytes = formatMarker(marker);
    const room = standsAt(this.#rootFd, this.#room) ? this.#room : takeRoom(this.#rootFd);
    try {
      writeAll(room.fd, bytes);
      ftruncateSync(room.fd, bytes.length);
      fchmodSync(room.fd, 0o644);
      fsyncSync(room.fd);
      renameSync(at(this.#rootFd, room.name), at(this.#rootFd, rootFiles.done));
    } catch (error) {
      throw unusable(error);
    } finally {
      closeSync(room.fd);
    }
  }
}

interface Room {
  readonly fd: number;
  readonly name: string;
}

function takeRoom(rootFd: number): Room {
  const name = `${rootFiles.done}.${process.hrtime.bigint().toString(36)}`;
  const { O_CREAT, O_EXCL, O_WRONLY } = constants;
  try {
    const fd = openSync(at(rootFd, name), O_WRONLY | O_CREAT | O_EXCL, 0o600);
    writeAll(fd, Buffer.alloc(maxMarkerBytes));
    return { fd, name };
  } catch (error) {
    throw unusable(error);
  }
}

/** False where the agent removed or replaced the name: a rename would then publish something else. */
function standsAt(rootFd: number, { fd, name }: Room): boolean {
  const kept = fstatSync(fd, { bigint: true });
  try {
    const named = lstatSync(at(rootFd, name), { bigint: true });
    return named.ino === kept.ino && named.dev === kept.dev;
  } catch {
    return false;
  }
}

function unusable(cause: unknown): EntrypointError {
  const message = `the marker cannot be written in the variables folder: ${errnoOf(cause)}`;
  return new EntrypointError("volume_unusable", message, { cause });
}
