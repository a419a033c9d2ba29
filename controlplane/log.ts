import { destination, pino, stdTimeFunctions, type Logger } from "pino";

/** JSON lines on stderr, times in RFC 3339. */
export function createLog(level: string): Logger {
  const options = { level, base: null, timestamp: stdTimeFunctions.isoTime };
  return pino(options, destination({ fd: 2, sync: true }));
}
