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
    const reason = "code" in error && typeof error.code === "string" ? error.code : error.message;
    throw new UsageError([`${what}: ${reason}`], { cause: error });
  }
}
