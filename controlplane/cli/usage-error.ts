import { StoreUnavailable } from "../store/store-unavailable.ts";
import { whyFailed } from "./errno-words.ts";

/** The command line or a file it names is wrong: each problem is one line for a person. Exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(problems.join("; "), options);
    this.problems = problems;
  }
}

/**
 * Runs something that a wrong setting makes fail, and says so in one line with the errno instead of a stack.
 */
export async function explaining<T>(what: string, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // Says itself what it is about.
    if (error instanceof StoreUnavailable) throw new UsageError([error.message], { cause: error });
    throw new UsageError([`${what}: ${whyFailed(error)}`], { cause: error });
  }
}
