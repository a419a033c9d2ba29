import { onTestFinished } from "vitest";

export interface ServerSentEvent {
  readonly id: number;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A client of server-sent events, on a real connection. */
export interface EventClient {
  readonly response: Response;
  /** The next so many events. */
  readonly take: (count: number) => Promise<ServerSentEvent[]>;
  /** Resolves at the server's end of the stream; true where that was in order. */
  readonly ended: () => Promise<boolean>;
  /** Goes away, as a client that was cut off. */
  readonly leave: () => void;
}

export async function followEvents(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<EventClient> {
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  const response = await fetch(url, { headers, signal: controller.signal });
  const blocks = blocksOf(response);
  return {
    response,
    take: async (count) => {
      const events: ServerSentEvent[] = [];
      while (events.length < count) {
        const { done, value } = await blocks.next();
        if (done === true) throw new Error("the stream ended");
        if (!value.startsWith(":")) events.push(parse(value));
      }
      return events;
    },
    ended: async () => {
      try {
        while ((await blocks.next()).done !== true);
        return true;
      } catch {
        return false;
      }
    },
    leave: () => controller.abort(),
  };
}

async function* blocksOf({ body }: Response): AsyncGenerator<string, undefined, undefined> {
  let text = "";
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const blocks = (text + chunk).split("\n\n");
    text = blocks.pop() ?? "";
    yield* blocks;
  }
  return undefined;
}

function parse(block: string): ServerSentEvent {
  const fields = new Map(
    block.split("\n").map((line) => line.split(/: (.*)/s) as [string, string]),
  );
  return {
    id: Number(fields.get("id")),
    event: String(fields.get("event")),
    data: JSON.parse(String(fields.get("data"))) as Record<string, unknown>,
  };
}
