import { escapeText } from "../../contract/escape.ts";

/**
 * Plain lines with the time since the start of the run: `  1.2s  inspect  started`. What a step printed is
 * untrusted, and shown escaped.
 */
export class RunLog {
  readonly #startedAt: number;
  readonly #now: () => number;
  readonly #write: (text: string) => void;
  /** Of the widest label, so that columns line up. */
  readonly #width: number;

  constructor(steps: Iterable<string>, now: () => number, write: (text: string) => void) {
    this.#startedAt = now();
    this.#now = now;
    this.#write = write;
    this.#width = Math.max(...["run", ...steps].map((label) => label.length));
  }

  /** Milliseconds since the start. */
  elapsedMs(): number {
    return this.#now() - this.#startedAt;
  }

  say(step: string, text: string): void {
    const time = formatSeconds(this.elapsedMs()).padStart(6);
    this.#write(`${time}  ${step.padEnd(this.#width)}  ${escapeText(text)}\n`);
  }
}

/** `0.3s`, `75.0s`. */
export function formatSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)}s`;
}
