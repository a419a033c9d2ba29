/**
 * Every signal that the entrypoint passes on, caught from the first moment. What comes before the agent
 * exists is held, so that none is lost; TERM and INT are also counted, because they end the step (WV-15).
 */

export const forwardedSignals = [
  "SIGTERM",
  "SIGINT",
  "SIGHUP",
  "SIGQUIT",
  "SIGUSR1",
  "SIGUSR2",
] as const;
export type ForwardedSignal = (typeof forwardedSignals)[number];
export type TerminationSignal = "SIGTERM" | "SIGINT";

/** Where signals come from: `process`. */
export interface SignalSource {
  on(signal: ForwardedSignal, listener: () => void): unknown;
}

type Receiver = (signal: ForwardedSignal) => void;

/**
 * On a terminal the kernel gives these to everyone in the foreground: the agent has its own already, and an
 * interactive agent lives on after Ctrl-C.
 */
const fromTheKeyboard: ReadonlySet<ForwardedSignal> = new Set(["SIGINT", "SIGQUIT"]);

export class Signals {
  readonly #termination = new AbortController();
  readonly #insistence = new AbortController();
  readonly #held: ForwardedSignal[] = [];
  #receiver: Receiver = (signal) => this.#held.push(signal);
  #terminatedBy: TerminationSignal | undefined;
  #terminatedAtMs: number | undefined;

  /**
   * Installs the handlers. On a terminal INT and QUIT are taken and nothing more: they end neither agent nor
   * step.
   */
  constructor(source: SignalSource, { onTerminal }: { readonly onTerminal: boolean }) {
    for (const signal of forwardedSignals) {
      const isKeyboards = onTerminal && fromTheKeyboard.has(signal);
      source.on(signal, isKeyboards ? () => undefined : () => this.#catch(signal));
    }
  }

  /** The first TERM or INT, once it has come. */
  get terminatedBy(): TerminationSignal | undefined {
    return this.#terminatedBy;
  }

  /** When it came, on the clock of `performance.now()`. */
  get terminatedAtMs(): number | undefined {
    return this.#terminatedAtMs;
  }

  /** Aborted by the first TERM or INT. */
  get termination(): AbortSignal {
    return this.#termination.signal;
  }

  /** Aborted by the second TERM or INT: whoever sends it does not want to wait. */
  get insistence(): AbortSignal {
    return this.#insistence.signal;
  }

  /** Gives the receiver what was held, then whatever comes. */
  forwardTo(receiver: Receiver): void {
    this.#receiver = receiver;
    for (const signal of this.#held.splice(0)) receiver(signal);
  }

  /** From here on signals reach nobody; TERM and INT still count. */
  stopForwarding(): void {
    this.#receiver = () => undefined;
  }

  #catch(signal: ForwardedSignal): void {
    this.#receiver(signal);
    if (signal !== "SIGTERM" && signal !== "SIGINT") return;
    if (this.#terminatedBy !== undefined) this.#insistence.abort();
    this.#terminatedBy ??= signal;
    this.#terminatedAtMs ??= performance.now();
    this.#termination.abort();
  }
}
