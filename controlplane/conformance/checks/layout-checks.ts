import { parseStepPath } from "../../../contract/ids.ts";
import { layoutKey, parsePrefillName } from "../../../contract/layout.ts";
import { maxPrefillBytes, maxPrefillEntries } from "../../../contract/limits.ts";
import { Mismatch, type Check } from "../check.ts";
import { expectEqual } from "../expectations.ts";
import { fetchEntries, fetchSample } from "../sample-prefill.ts";

/** What a prefill lays out: names, spellings, counts (WV-1, WV-2, WV-5). */
export const layoutChecks: readonly Check[] = [
  {
    clause: "WV-1",
    title: "names nothing but folders and leaves of valid keys, .step, .context and .prompt",
    run: async (subject) => {
      for (const { name, kind } of await fetchEntries(subject)) {
        if (parsePrefillName(name, kind === "folder") === undefined) {
          throw new Mismatch("such names", `the ${kind} ${JSON.stringify(name)}`);
        }
      }
    },
  },
  {
    clause: "WV-2",
    title: "spells folders in lowercase and leaves in uppercase",
    run: async (subject) => {
      for (const { name, kind } of await fetchEntries(subject)) {
        if (name.startsWith(".")) continue;
        const lower = name.toLowerCase().split("/");
        const expected = kind === "folder" ? lower : layoutKey(lower);
        expectEqual("the name", name, expected.join("/"));
      }
    },
  },
  {
    clause: "WV-2",
    title: "lays no two leaves over each other, and no leaf over a folder",
    run: async (subject) => {
      const files = new Set<string>();
      const folders = new Set<string>();
      for (const { name, kind } of await fetchEntries(subject)) {
        const path = name.split("/");
        const lower = path.map((part) => part.toLowerCase());
        const folder = kind === "folder" ? lower : lower.slice(0, -1);
        for (let end = 1; end <= folder.length; end += 1) {
          folders.add(folder.slice(0, end).join("/"));
        }
        if (kind === "folder") continue;
        const spelled = name.startsWith(".") ? name : layoutKey(lower).join("/");
        if (files.has(spelled)) throw new Mismatch("one leaf of a name", `two of ${spelled}`);
        files.add(spelled);
      }
      for (const file of files) {
        if (folders.has(file)) throw new Mismatch("no leaf over a folder", file);
      }
    },
  },
  {
    clause: "WV-1",
    title: "leaves the step's own folder to the sidecar",
    run: async (subject) => {
      const { step } = await fetchSample(subject);
      const own = `${(parseStepPath(step.step)?.segments ?? []).join("/")}/`;
      for (const { name } of await fetchEntries(subject)) {
        if (`${name.toLowerCase()}/`.startsWith(own)) throw new Mismatch(`nothing in ${own}`, name);
      }
    },
  },
  {
    clause: "WV-5",
    title: "stays within 32 MiB and 65536 entries",
    run: async (subject) => {
      const entries = await fetchEntries(subject);
      const bytes = entries.reduce((sum, entry) => sum + entry.bytes.length, 0);
      if (bytes > maxPrefillBytes) throw new Mismatch("32 MiB", `${String(bytes)} bytes`);
      if (entries.length > maxPrefillEntries) {
        throw new Mismatch("65536 entries", String(entries.length));
      }
    },
  },
];
