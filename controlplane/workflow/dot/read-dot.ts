import { DotError, type DotProblem } from "./dot-error.ts";
import type { DotGraph } from "./dot-graph.ts";
import { dotLimits } from "./dot-limits.ts";
import { evaluate } from "./evaluate.ts";
import { Parser } from "./parser.ts";

export interface ReadDot {
  /** Undefined where reading had to stop; with problems beside it, what could be made of the rest. */
  readonly graph: DotGraph | undefined;
  /** In source order; empty when all is well. */
  readonly problems: readonly DotProblem[];
}

/**
 * Reads one DOT file (G-1). Never throws for what stands in it: HTML values, ports and `--` are all
 * reported and passed over, the first thing that is not DOT ends the reading. Time grows with the length of
 * the file and with `dotLimits`, not with its square.
 */
export function readDot(source: string): ReadDot {
  if (source.length > dotLimits.sourceLength) {
    const message = `the file has ${String(source.length)} characters; the limit is ${String(dotLimits.sourceLength)}`;
    return { graph: undefined, problems: [{ code: "too_large", offset: 0, message }] };
  }
  let problems: readonly DotProblem[] = [];
  try {
    const parser = new Parser(source);
    problems = parser.problems;
    return { graph: evaluate(parser.parse()), problems };
  } catch (error) {
    if (!(error instanceof DotError)) throw error;
    const { code, offset, message } = error;
    return { graph: undefined, problems: [...problems, { code, offset, message }] };
  }
}
