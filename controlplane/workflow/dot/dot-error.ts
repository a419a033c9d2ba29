/** `syntax`: not DOT, or DOT that a workflow has no use for. `too_large`: past one of `dotLimits`. */
export type DotProblemCode = "syntax" | "too_large";

export interface DotProblem {
  readonly code: DotProblemCode;
  readonly message: string;
  /** In the source, in UTF-16 units. */
  readonly offset: number;
}

/** Reading cannot go on past this problem. Never leaves `readDot`. */
export class DotError extends Error implements DotProblem {
  override readonly name = "DotError";
  readonly code: DotProblemCode;
  readonly offset: number;

  constructor(code: DotProblemCode, offset: number, message: string) {
    super(message);
    this.code = code;
    this.offset = offset;
  }
}
