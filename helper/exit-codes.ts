import type { HelperCode } from "../contract/codes.ts";

/** Exit codes of `wfvar` (WV-14): 1 absent, 2 wrong key, value or words, 3 over a limit, 4 not ours to write, 5 the environment. */
export const exitCodes = {
  not_found: 1,
  invalid_key: 2,
  ambiguous_key: 2,
  invalid_value: 2,
  usage: 2,
  value_too_large: 3,
  step_entries_exceeded: 3,
  step_files_exceeded: 3,
  step_bytes_exceeded: 3,
  outside_own_step: 4,
  no_variables: 5,
  unsafe_path: 5,
  disk_full: 5,
  io_error: 5,
} as const satisfies Record<HelperCode, number>;
