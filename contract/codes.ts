/** The closed lists of codes. A code means one thing everywhere: logs, packs, API answers, exit codes. */

/** A value that the pack leaves out (WV-11). */
export const rejectCodes = [
  "invalid_output_key",
  "value_too_large",
  "invalid_output_value",
  "changed_while_reading",
  "unreadable",
] as const;
export type RejectCode = (typeof rejectCodes)[number];

/** A limit of the whole step (WV-5): no value is accepted. Listed in order of precedence. */
export const packCodes = [
  "step_entries_exceeded",
  "step_files_exceeded",
  "step_bytes_exceeded",
] as const;
export type PackCode = (typeof packCodes)[number];

/** Something passed over or noticed; no value is lost by it (WV-11). */
export const skipCodes = [
  "skipped_symlink",
  "skipped_fifo",
  "skipped_socket",
  "skipped_device",
  "skipped_dotfile",
  "skipped_mount",
  "stray_at_root",
  "marker_invalid",
  "own_folder_missing",
] as const;
export type SkipCode = (typeof skipCodes)[number];

/** What the control plane adds to an accepted pack (WV-10). */
export const warningCodes = ["variables_missing_output"] as const;
export type WarningCode = (typeof warningCodes)[number];

/** How a step's end was noticed (WV-7). */
export const completions = ["marker", "lost", "interrupted", "deadline", "never_started"] as const;
export type Completion = (typeof completions)[number];

/** Why a step failed, as the control plane records it. */
export const causeCodes = [
  "agent_failed",
  "agent_terminated",
  "marker_invalid",
  "lost",
  "interrupted",
  "deadline",
  "never_started",
  "undelivered",
  ...packCodes,
  ...warningCodes,
] as const;
export type CauseCode = (typeof causeCodes)[number];

/** What `load`, `save`, `keys` and `wfvar` refuse with (WV-13, WV-14). */
export const helperCodes = [
  "not_found",
  "invalid_key",
  "ambiguous_key",
  "invalid_value",
  "usage",
  "value_too_large",
  ...packCodes,
  "outside_own_step",
  "no_variables",
  "unsafe_path",
  "disk_full",
  "io_error",
] as const;
export type HelperCode = (typeof helperCodes)[number];

/** `code` of a problem document of the control plane's API. */
export const apiCodes = [
  "invalid_request",
  "invalid_pack",
  "digest_mismatch",
  "length_required",
  "unauthorized",
  "forbidden",
  "not_found",
  "run_exists",
  "attempt_exists",
  "already_packed",
  "stale_instance",
  "stale_attempt",
  "too_large",
  "unavailable",
  "internal_error",
] as const;
export type ApiCode = (typeof apiCodes)[number];

/** What ends a sidecar without a delivery (WV-12, WV-16). */
export const sidecarCodes = [
  "config_invalid",
  "prefill_invalid",
  "prefill_too_large",
  "refused",
  "not_delivered",
  "volume_unusable",
] as const;
export type SidecarCode = (typeof sidecarCodes)[number];
