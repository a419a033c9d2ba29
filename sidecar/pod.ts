import type { Logger } from "pino";
import type { Config } from "./config.ts";
import type { Interruption } from "./interruption.ts";
import type { StateLog } from "./state-log.ts";

/** What a subcommand that runs in a pod is given. */
export interface Pod {
  /** The shared volume, open. */
  readonly rootFd: number;
  readonly config: Config;
  readonly interruption: Interruption;
  readonly log: Logger;
  readonly state: StateLog;
}

/** Ends well, or throws SidecarError. */
export type Subcommand = (pod: Pod) => Promise<void>;
