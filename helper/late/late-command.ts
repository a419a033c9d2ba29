import type { CommandIo } from "../command.ts";

/**
 * A command in a bundle of its own, `lib/<name>.cjs`, so that `wfvar get` does not pay for it. It reports its
 * own failures: an error's class is another one in another bundle.
 */
export interface LateCommand {
  /** Runs it on the arguments after its name; gives the exit code. */
  run(argv: readonly string[], io: CommandIo): number;
}

/** The late commands, and their line for `wfvar --help`. */
export const lateCommands: ReadonlyMap<string, string> = new Map([
  ["check", "show what would be delivered, rejected and missed now"],
  ["brief", "print what an agent must know of this step, in Markdown"],
  ["mcp", "offer these commands to an agent as tools (MCP on stdio)"],
]);
