import { errnoOf } from "./descriptor.ts";

/**
 * What is printed for a person or the next command of a pipe. A pipe takes 64 KiB at a time and an exit drops
 * the rest, so the end of it is waited for.
 */
export class Output {
  readonly #open: () => NodeJS.WritableStream;
  #stream: NodeJS.WritableStream | undefined;
  #written: Promise<void> | undefined;
  #errno: string | undefined;

  /** `open` is called at the first print: a sidecar that waits has no use for the stream. */
  constructor(open: () => NodeJS.WritableStream) {
    this.#open = open;
  }

  print(text: string): void {
    // What the listener hears the callback has too; without a listener it would end the process.
    const stream = (this.#stream ??= this.#open().on("error", () => undefined));
    this.#written = new Promise((resolve) => {
      stream.write(text, (error) => {
        if (error) this.#errno ??= errnoOf(error);
        resolve();
      });
    });
  }

  /**
   * Waits until everything is written; gives the errno where it could not be. A reader that has gone away
   * (`| head`) has seen what it wanted.
   */
  async finish(): Promise<string | undefined> {
    await this.#written;
    return this.#errno === "EPIPE" ? undefined : this.#errno;
  }
}
