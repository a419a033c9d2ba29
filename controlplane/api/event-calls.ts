import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import * as z from "zod";
import { runId } from "../../contract/wire.ts";
import type { Metrics } from "../metrics.ts";
import type { Store } from "../store/store.ts";
import type { VariablesService } from "../variables/variables-service.ts";
import { describedSchemas } from "./described-schemas.ts";
import { operatorCall } from "./openapi.ts";
import { streamEvents } from "./event-stream.ts";
import { maxSeq } from "./page.ts";
import { wholeNumber } from "./whole-number.ts";

const heartbeatMs = 15_000;

const eventStream = z.unknown().register(describedSchemas, {
  type: "string",
  description: "`id` is the event's number, `event` its type, `data` JSON",
  examples: [
    'id: 2\nevent: step_stamped\ndata: {"at":"2026-12-01T00:00:00.000Z","step":"judge","attempt":1}\n\n',
  ],
});

/** Following what happens in a run (API page, Events). Streams end when `closing` aborts. */
export function addEventCalls(
  server: FastifyInstance,
  service: VariablesService,
  store: Pick<Store, "listEvents" | "getRun">,
  metrics: Pick<Metrics, "eventStreams">,
  closing: AbortSignal,
): void {
  const api = server.withTypeProvider<ZodTypeProvider>();

  api.get(
    "/v1/runs/:run/events",
    {
      config: { problems: ["invalid_request", "unauthorized", "not_found"] },
      schema: {
        ...operatorCall,
        operationId: "streamEvents",
        summary: "Follow a run's events",
        description: "Those that there are, then those to come, until either side ends it.",
        params: z.object({ run: runId }),
        headers: z.object({
          "last-event-id": wholeNumber(0, maxSeq)
            .default(0)
            .register(describedSchemas, { description: "Only events after this one" }),
        }),
        response: {
          200: {
            description: "The events",
            content: { "text/event-stream": { schema: eventStream } },
          },
        },
      },
    },
    async ({ params: { run }, headers }, reply) => {
      await service.runs.getRun(run);
      const after = headers["last-event-id"];
      // A generator hears of its reader's end only at the next event, and that may be far off.
      const gone = new AbortController();
      reply.raw.once("close", () => gone.abort());
      const signal = AbortSignal.any([closing, gone.signal]);
      const events = streamEvents(store, run, { after, heartbeatMs, signal });
      metrics.eventStreams.inc();
      const stream = Readable.from(events, { objectMode: false });
      stream.once("close", () => metrics.eventStreams.dec());
      return (
        reply
          .type("text/event-stream")
          // nginx would hold events back until a buffer of them is full.
          .header("x-accel-buffering", "no")
          .send(stream)
      );
    },
  );
}
