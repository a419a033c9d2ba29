import { defaultLimits, maxStepFiles, type Limits } from "./limits.ts";
import { count, sizeBytes, type SettingValues } from "./settings.ts";

/**
 * The limits of WV-5 as settings: the sidecar's, and the control plane's for runs that name none of their
 * own.
 */
export const limitSettings = {
  maxValueBytes: sizeBytes({
    env: "WFVAR_MAX_VALUE_BYTES",
    placeholder: "SIZE",
    help: "limit of one value (1MiB)",
    fallback: defaultLimits.max_value_bytes,
  }),
  maxStepBytes: sizeBytes({
    env: "WFVAR_MAX_STEP_BYTES",
    placeholder: "SIZE",
    help: "limit of a step's values together (16MiB)",
    fallback: defaultLimits.max_step_bytes,
  }),
  maxStepFiles: {
    ...count({
      env: "WFVAR_MAX_STEP_FILES",
      placeholder: "N",
      help: `limit of a step's files (1024, at most ${String(maxStepFiles)})`,
      fallback: defaultLimits.max_step_files,
    }),
    parse: (value: string): number | undefined => {
      const files = /^[1-9]\d{0,4}$/.test(value) ? Number(value) : Number.POSITIVE_INFINITY;
      return files <= maxStepFiles ? files : undefined;
    },
    expected: `a whole number from 1 to ${String(maxStepFiles)}`,
  },
  maxStepEntries: count({
    env: "WFVAR_MAX_STEP_ENTRIES",
    placeholder: "N",
    help: "limit of a step's directory entries of any type (16384)",
    fallback: defaultLimits.max_step_entries,
  }),
} as const;

export function limitsOf(values: SettingValues<typeof limitSettings>): Limits {
  return {
    max_value_bytes: values.maxValueBytes,
    max_step_bytes: values.maxStepBytes,
    max_step_files: values.maxStepFiles,
    max_step_entries: values.maxStepEntries,
  };
}
