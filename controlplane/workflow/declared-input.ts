import type { OutputKind } from "../../contract/step-file.ts";

/** One entry of a workflow's `inputs` (G-1). */
export interface DeclaredInput {
  /** A lowercase key: `work`, `item.title`. */
  readonly name: string;
  readonly kind: OutputKind;
  /** Of a `choice`. */
  readonly options: readonly string[] | undefined;
  /** False with `?`: the run may do without. Never both optional and with a fallback. */
  readonly required: boolean;
  /** What holds where no value is given, exactly as written. */
  readonly fallback: string | undefined;
}
