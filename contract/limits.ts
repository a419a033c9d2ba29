/** The limits of WV-5, as they travel: in `.step`, in `pack.json`, in the API. Sizes in bytes. */
export interface Limits {
  readonly max_value_bytes: number;
  /** Sum of accepted values. */
  readonly max_step_bytes: number;
  /** Regular files. */
  readonly max_step_files: number;
  /** Directory entries of any type; bounds the time of a walk. */
  readonly max_step_entries: number;
}

export const defaultLimits: Limits = {
  max_value_bytes: 1024 ** 2,
  max_step_bytes: 16 * 1024 ** 2,
  max_step_files: 1024,
  max_step_entries: 16_384,
};

export const maxMarkerBytes = 4096;
export const maxPrefillBytes = 32 * 1024 ** 2;
export const maxPrefillEntries = 65_536;
/** `pack.json` alone. */
export const maxManifestBytes = 4 * 1024 ** 2;
/**
 * The most that `max_step_files` may be set to: the list of so many of the longest keys still fits
 * `pack.json`.
 */
export const maxStepFiles = 4096;
/** What a file may cost a pack beyond its bytes: header, PAX header and record, padding. */
export const packOverheadPerFileBytes = 2048;

/** Attempts of one step. */
export const maxAttempt = 1_000_000;

/** The largest body a pack under these limits can have (API, Pack). */
export function maxPackBytes(limits: Limits): number {
  return (
    limits.max_step_bytes + maxManifestBytes + packOverheadPerFileBytes * limits.max_step_files
  );
}
