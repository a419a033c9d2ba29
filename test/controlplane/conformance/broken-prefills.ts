import { maxPrefillBytes } from "../../../contract/limits.ts";
import { endBlocks } from "../../../controlplane/conformance/make-pack.ts";
import { without, withBody } from "./broken-proxy.ts";
import type { Broken } from "./broken.ts";
import { changesEntries, changesPrefill } from "./faults.ts";

/** Control planes whose prefill is wrong in one way. */
export const brokenPrefills: readonly Broken[] = [
  {
    name: "sends a prefill without its digest",
    fault: () =>
      changesPrefill((answer) => ({
        ...answer,
        headers: without(answer.headers, "content-digest"),
      })),
    noticed: ["announces the SHA-256 of the body, and no other digest"],
  },
  {
    name: "sends a prefill with another digest",
    fault: () =>
      changesPrefill((answer) => ({
        ...answer,
        headers: { ...answer.headers, "content-digest": `sha-256=:${"A".repeat(43)}=:` },
      })),
    noticed: ["announces the SHA-256 of the body, and no other digest"],
  },
  {
    name: "sends a prefill without its length",
    fault: () =>
      changesPrefill((answer) => ({
        ...answer,
        headers: without(answer.headers, "content-length"),
      })),
    noticed: ["announces the length of the body"],
  },
  {
    name: "sends a prefill of another media type",
    fault: () =>
      changesPrefill((answer) => ({
        ...answer,
        headers: { ...answer.headers, "content-type": "application/octet-stream" },
      })),
    noticed: ["answers 200 with application/x-tar"],
  },
  {
    name: "leaves out the end blocks",
    fault: () =>
      changesPrefill((answer) => withBody(answer, answer.body.subarray(0, -endBlocks.length))),
    noticed: ["sends plain files and folders in ustar, two end blocks and nothing behind them"],
  },
  {
    name: "pads the prefill as GNU tar does",
    fault: () =>
      changesPrefill((answer) => withBody(answer, Buffer.concat([answer.body, Buffer.alloc(512)]))),
    noticed: ["sends plain files and folders in ustar, two end blocks and nothing behind them"],
  },
  {
    name: "sends another tar the second time",
    fault: () => {
      const seen = new Set<string>();
      return changesEntries((entries, { path }) => {
        const again = seen.has(path);
        seen.add(path);
        return again ? entries.toReversed() : entries;
      });
    },
    noticed: ["gives the same instance the same bytes again"],
  },
  {
    name: "brings a dotfile of its own",
    fault: () =>
      changesEntries((entries) => [
        ...entries,
        { name: ".secret", kind: "file", bytes: Buffer.from("x") },
      ]),
    noticed: ["names nothing but folders and leaves of valid keys, .step, .context and .prompt"],
  },
  {
    name: "names the root",
    fault: () =>
      changesEntries((entries) => [
        { name: ".", kind: "folder", bytes: Buffer.alloc(0) },
        ...entries,
      ]),
    noticed: ["names nothing but folders and leaves of valid keys, .step, .context and .prompt"],
  },
  {
    name: "spells leaves in lowercase",
    fault: () =>
      changesEntries((entries) =>
        entries.map((entry) => ({ ...entry, name: entry.name.toLowerCase() })),
      ),
    noticed: ["spells folders in lowercase and leaves in uppercase"],
  },
  {
    name: "sends a value under two spellings",
    fault: () =>
      changesEntries((entries) => [
        ...entries,
        ...entries
          .filter(({ name }) => /[A-Z]$/.test(name))
          .map((entry) => ({ ...entry, name: entry.name.toLowerCase() })),
      ]),
    noticed: [
      "spells folders in lowercase and leaves in uppercase",
      "lays no two leaves over each other, and no leaf over a folder",
    ],
  },
  {
    name: "brings the step's own folder",
    fault: () =>
      changesEntries((entries, { path }) => {
        const [, own = ""] = /steps\/([^/]+)\//.exec(path) ?? [];
        return [
          ...entries,
          { name: own.toLowerCase().replace(".", "/"), kind: "folder", bytes: Buffer.alloc(0) },
        ];
      }),
    noticed: ["leaves the step's own folder to the sidecar"],
  },
  {
    name: "brings no .step",
    fault: () => changesEntries((entries) => entries.filter(({ name }) => name !== ".step")),
    noticed: [
      "says in .step which run, step and attempt this is",
      "says in .step which limits hold",
      "says in .step which outputs are declared",
    ],
  },
  {
    name: "says in .step that the attempt is another",
    fault: () =>
      changesEntries((entries) =>
        entries.map((entry) =>
          entry.name === ".step"
            ? {
                ...entry,
                bytes: Buffer.from(entry.bytes.toString().replace('"attempt":', '"attempt":1')),
              }
            : entry,
        ),
      ),
    noticed: ["says in .step which run, step and attempt this is"],
  },
  {
    name: "trims line ends",
    fault: () =>
      changesEntries((entries) =>
        entries.map((entry) => ({
          ...entry,
          bytes: Buffer.from(entry.bytes.toString("latin1").replace(/\n$/, ""), "latin1"),
        })),
      ),
    noticed: ["gives values back byte for byte: empty, NUL, CRLF, byte order mark, no line end"],
  },
  {
    name: "shows more than a step may see",
    fault: () =>
      changesEntries((entries) => [
        ...entries,
        { name: "stranger/A", kind: "file", bytes: Buffer.from("x") },
      ]),
    noticed: [
      "shows a direct dependency, and not the one behind it",
      "shows the values of a step that failed",
      "shows of a step that ran again the newest attempt's values alone",
      "shows in a loop what earlier iterations left",
      "shows nothing of a refused pack, neither before nor after the right one",
      "keeps what it accepted when another body is refused",
    ],
  },
  {
    name: "leaves out folders that are empty",
    fault: () =>
      changesEntries((entries) =>
        entries.filter(
          ({ name, kind }) =>
            kind === "file" || entries.some((other) => other.name.startsWith(`${name}/`)),
        ),
      ),
    noticed: ["shows a dependency without values as an empty folder"],
  },
  {
    name: "makes the inputs anew for each step",
    fault: () => {
      let count = 0;
      return changesEntries((entries) =>
        entries.map((entry) =>
          entry.name === "workflow/template"
            ? { ...entry, bytes: Buffer.from(String((count += 1))) }
            : entry,
        ),
      );
    },
    noticed: [
      "gives the same instance the same bytes again",
      "brings every step of a run the same inputs",
      "brings what the fixture says is visible",
    ],
  },
  {
    name: "brings no run id",
    fault: () =>
      changesEntries((entries) => entries.filter(({ name }) => name !== "workflow/run-id")),
    noticed: ["brings the run's id and its template", "brings what the fixture says is visible"],
  },
  {
    name: "brings more than a prefill may hold",
    fault: () => {
      // Of the first step alone: the checks of what is in a prefill all look at that one.
      let first: string | undefined;
      return changesEntries((entries, { path }) => {
        first ??= path;
        const bytes = Buffer.alloc(maxPrefillBytes);
        return path === first
          ? [...entries, { name: "workflow/large", kind: "file", bytes }]
          : entries;
      });
    },
    noticed: ["stays within 32 MiB and 65536 entries"],
  },
];
