import { resolve } from "node:path";

/** What `npm run build` makes; `npm test` builds before it tests. */
export const dist = resolve(import.meta.dirname, "..", "..", "dist");
