import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  apiCodes,
  causeCodes,
  completions,
  packCodes,
  rejectCodes,
  sidecarCodes,
  skipCodes,
} from "../../contract/codes.ts";
import { flagOf } from "../../contract/settings.ts";
import { planShutdown } from "../../sidecar/inject/shutdown-plan.ts";
import { settingNames, unknownSettings } from "./setting-names.ts";

const page = readFileSync("docs/kubernetes.md", "utf8");
it("docs/kubernetes.md names settings and flags of ours by names that they have", () => {
  expect(unknownSettings(page)).toEqual([]);
  const flags = new Set([...settingNames].map(flagOf));
  const ofInject = [...page.matchAll(/`(--[a-z-]+)/g)].map(([, flag]) => flag ?? "");
  expect(ofInject.filter((flag) => !flags.has(flag))).toEqual([]);
  expect(ofInject.length).toBeGreaterThan(5);
});

it("docs/kubernetes.md shows the sums that inject writes", () => {
  const sums = (["native", "plain"] as const).map((sidecar) => {
    return planShutdown({ sidecar, declaredGraceS: undefined, preStopS: 0, agentGraceS: 10 }).sum;
  });
  expect(page.match(/^ {4}\d+s >?= .*$/gm)?.map((line) => line.trim())).toEqual(sums);
});

it("docs/kubernetes.md looks for trouble under codes that there are", () => {
  const codes = new Set<string>(
    [apiCodes, causeCodes, completions, packCodes, rejectCodes, sidecarCodes, skipCodes].flat(),
  );
  const [, table = ""] = page.split("## Troubleshooting");
  const column = table.split("\n").map((row) => row.split("|")[2] ?? "");
  const named = column.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, code]) => code));
  expect(named.filter((code) => !codes.has(code ?? ""))).toEqual([]);
  expect(named.length).toBeGreaterThan(10);
});

it("docs/kubernetes.md links to files and headings that there are", () => {
  const headings = new Set(
    [...page.matchAll(/^##+ (.*)$/gm)].map(([, text = ""]) => {
      return `#${text
        .toLowerCase()
        .replaceAll(/[^\w -]/g, "")
        .replaceAll(" ", "-")}`;
    }),
  );
  const links = [...page.matchAll(/\]\(([^)]+)\)/g)].map(([, link = ""]) => link);
  const files = links.filter((link) => link.startsWith("../"));
  expect(files.filter((link) => !existsSync(join("docs", link)))).toEqual([]);
  const anchors = links.filter((link) => link.startsWith("#"));
  expect(anchors.filter((link) => !headings.has(link))).toEqual([]);
});
