import { maxManifestBytes } from "../../../contract/limits.ts";
import { manifestName, maxListedIssues, valuesFolder } from "../../../contract/pack.ts";
import type { Check } from "../check.ts";
import { goodMarker, makeTar, type PackSpec } from "../make-pack.ts";
import { secondInstance } from "../subject.ts";
import { refusesPack } from "./refuses-pack.ts";

/** `pack.json`, read as if the sidecar were hostile (API page, Deliver a pack). */
export const manifestChecks: readonly Check[] = [
  refusesPack("API-pack", "a tar without anything", () => makeTar([])),
  refusesPack("API-pack", "a pack without pack.json", ({ step }) =>
    makeTar([[`${valuesFolder}${step}.a`, "1"]]),
  ),
  refusesPack("API-pack", "a pack.json that is not the first entry", ({ step }) =>
    makeTar([
      [`${valuesFolder}${step}.a`, "1"],
      [manifestName, "{}"],
    ]),
  ),
  refusesPack("API-pack", "a second pack.json", () => ({ entries: [[manifestName, "{}"]] })),
  refusesPack("API-pack", "a pack.json that is not JSON", () => ({ json: Buffer.from("{") })),
  refusesPack("API-pack", "a pack.json that is a list", () => ({ json: Buffer.from("[]") })),
  refusesPack("API-pack", "a pack.json that is not UTF-8", () => ({
    json: Buffer.concat([
      Buffer.from('{"version":1,"x":"'),
      Buffer.from([0xff]),
      Buffer.from('"}'),
    ]),
  })),
  refusesPack(
    "API-pack",
    "a pack.json over 4 MiB",
    () => ({ manifest: { later: "x".repeat(maxManifestBytes) } }),
    ["invalid_pack", "too_large"],
  ),
  manifest("of another version", { version: 2 }),
  manifest("of another run", { run: "conformance-other" }),
  manifest("of another step", { step: "conformance-other" }),
  manifest("of another attempt", { attempt: 999_999 }),
  manifest("of another instance than the call's", { instance: secondInstance }),
  manifest("without variables", { variables: undefined }),
  manifest("without completion", { completion: undefined }),
  manifest("with a completion that is none", { completion: { by: "luck", marker: null } }),
  manifest("with a marker that is none", {
    completion: { by: "marker", marker: { ...goodMarker, outcome: "maybe" } },
  }),
  manifest("with a code that is none", { rejected: [{ code: "bad_luck", path: "A" }] }),
  manifest("with a path that is not printable", {
    skipped: [{ code: "skipped_fifo", path: "a\nb" }],
  }),
  manifest("with more than 100 issues of a list", {
    skipped: Array.from({ length: maxListedIssues + 1 }, () => ({
      code: "skipped_fifo",
      path: "A",
    })),
  }),
];

function manifest(what: string, members: object): Check {
  const spec: PackSpec = { manifest: members };
  return refusesPack("API-pack", `a pack.json ${what}`, () => spec);
}
