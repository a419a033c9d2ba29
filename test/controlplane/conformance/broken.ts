import { expect, it } from "vitest";
import { allChecks } from "../../../controlplane/conformance/all-checks.ts";
import type { Fault } from "./broken-proxy.ts";
import { failed, runSuite, type Steps } from "./suite.ts";

/** A control plane with one thing wrong. */
export interface Broken {
  readonly name: string;
  readonly fault: (steps: Steps) => Fault;
  /** Titles of the checks that notice; no other may. */
  readonly noticed: readonly string[];
}

export function itNotices(broken: readonly Broken[]): void {
  it.each(broken)("$name", async ({ fault, noticed }) => {
    const titles = new Set(allChecks.map(({ title }) => title));
    expect(noticed.filter((title) => !titles.has(title))).toEqual([]);
    expect(failed(await runSuite(fault))).toEqual(noticed);
  });
}
