import { oddTars } from "../../controlplane/conformance/odd-tars.ts";

/** Tars that this contract does not send, each wrong in one way: name and parts. */
export const badTars: readonly (readonly [string, readonly Buffer[]])[] = [
  ...oddTars("a")
    // Fine in a prefill, never in a pack.
    .filter(({ what }) => what !== "a folder")
    .map(({ what, parts }) => [what, parts] as const),
  ["nothing at all", []],
];
