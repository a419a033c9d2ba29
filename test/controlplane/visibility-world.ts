import { createHash } from "node:crypto";
import { expect } from "vitest";
import { defaultLimits } from "../../contract/limits.ts";
import type { TestControlPlane } from "../support/control-plane.ts";
import { contentDigestOf, goodMarker, makePack, putPack, type PackSpec } from "../support/packs.ts";
import { readTar } from "../support/read-tar.ts";
import { VisibilityModel, whySeen, type Attempt, type Values } from "./visibility-model.ts";
import type { Delivery, Ending, Fault, Inputs, Stamp, Texts } from "./visibility-scenario.ts";

/** How often something was there that could have been got wrong. */
export type Tally = ReturnType<typeof newTally>;

export function newTally() {
  return {
    /** Values seen of an earlier iteration. */
    iteration: 0,
    /** Values seen of a dependency. */
    dependency: 0,
    /** Steps seen of which nothing was accepted. */
    missing: 0,
    /** Steps seen that failed. */
    failed: 0,
    /** Steps seen whose newest attempt has delivered nothing yet. */
    superseded: 0,
    /** Packs that were not taken. */
    refused: 0,
  };
}

interface Pod {
  readonly attempt: Attempt;
  readonly instance: string;
  readonly token: string;
  readonly loud: boolean;
}

/** Does each thing to a control plane and to the model, and holds the one against the other. */
export class VisibilityWorld {
  readonly #cp: TestControlPlane;
  readonly #tally: Tally;
  readonly #model = new VisibilityModel();
  readonly #pods: Pod[] = [];
  readonly #endings = new Map<Attempt, Ending>();

  constructor(cp: TestControlPlane, tally: Tally) {
    this.#cp = cp;
    this.#tally = tally;
  }

  async createRun(run: string, { template, item, artifacts, inputs }: Inputs): Promise<void> {
    const { status } = await this.#cp.operate("POST", "/v1/runs", {
      run,
      template,
      item,
      artifacts: Object.fromEntries(artifacts),
      // Input names are taken in any case.
      inputs: Object.fromEntries(inputs.map(([name, text]) => [name.toUpperCase(), text])),
    });
    expect(status).toBe(201);
    const frozen = new Map([
      ["run-id", run],
      ["template", template],
      ...Object.entries(item).map(([name, text]) => [`item.${name.replace("_", "-")}`, text]),
      ...artifacts.map(([name, text]) => [`artifacts.${name}`, text]),
      ...inputs.map(([name, text]) => [`inputs.${name}`, text]),
    ] as [string, string][]);
    this.#model.createRun(run, bytesOf([...frozen]));
  }

  async stamp(run: string, { step, dependsOn, jump, outputs, delivery, loud }: Stamp) {
    const newest = this.#model.newestAttempt(run, step);
    const number = newest + (jump ?? 1);
    if (number < 1 || this.#model.isStamped(run, step, number)) return;
    const spell = (text: string) => (loud ? text.toUpperCase() : text);
    const { status, json } = await this.#cp.operate("POST", `/v1/runs/${run}/steps`, {
      step: spell(step),
      depends_on: dependsOn.map(spell),
      outputs: outputs.map((output) => ({ ...output, key: spell(output.key) })),
      ...(jump !== undefined && { attempt: number }),
    });
    expect(status).toBe(number < newest ? 409 : 201);
    if (status !== 201) return;
    const attempt = { run, step, attempt: number, dependsOn, outputs };
    expect(json).toMatchObject({ run, step, attempt: number });
    this.#model.stamp(attempt);
    const instance = `pod-${String(this.#pods.length)}`;
    const pod = { attempt, instance, token: String(json["token"]), loud };
    this.#pods.push(pod);
    if (delivery === undefined) return;
    await this.#look(pod);
    await this.#deliver(pod, delivery);
  }

  async deliver(which: number, delivery: Delivery): Promise<void> {
    const pod = this.#pods[which % this.#pods.length];
    if (pod !== undefined) await this.#deliver(pod, delivery);
  }

  async look(which: number): Promise<void> {
    const pod = this.#pods[which % this.#pods.length];
    if (pod !== undefined) await this.#look(pod);
  }

  async lookEverywhere(): Promise<void> {
    for (const pod of this.#pods) await this.#look(pod);
  }

  /** Lists the run's variables and those with a prefix, and reads the last. */
  async list(run: string, prefix: string): Promise<void> {
    const shown = this.#model.variablesOf(run).map(({ bytes, ...rest }) => ({
      ...rest,
      size: bytes.length,
      sha256: createHash("sha256").update(bytes).digest("hex"),
      set_at: expect.any(String) as string,
    }));
    const path = `/v1/runs/${run}/variables?limit=1000`;
    const all = await this.#cp.operate("GET", path);
    expect(all.json).toEqual({ variables: shown, next: null });
    const start = prefix.toLowerCase();
    const some = shown.filter(({ key }) => key.startsWith(start));
    const { json } = await this.#cp.operate("GET", `${path}&prefix=${prefix}`);
    expect(json).toEqual({ variables: some, next: null });
    const last = this.#model.variablesOf(run).at(-1);
    const read = await fetch(`${this.#cp.operatorUrl}/v1/runs/${run}/variables/${last?.key}`, {
      headers: { authorization: `Bearer ${this.#cp.operatorToken}` },
    });
    expect(Buffer.from(await read.arrayBuffer())).toEqual(last?.bytes);
  }

  async #deliver({ attempt, instance, token }: Pod, delivery: Delivery): Promise<void> {
    const { run, step, attempt: number } = attempt;
    const { values, ending, fault } = delivery;
    const kept = ending === "over a limit" ? [] : values;
    const full = kept.map(([key, text]) => [`${step}.${key}`, text] as const);
    const spec = { run, step, attempt: number, instance, values: sorted(full), ...specOf[ending] };
    const body = await makePack(fault === undefined ? spec : spoiled[fault](spec));
    const headers =
      fault === "a wrong digest" ? { "content-digest": contentDigestOf(Buffer.alloc(0)) } : {};
    const options = { token, instance, attempt: number, headers };
    const { status } = await putPack(this.#cp.stepUrl, run, step, body, options);
    const open = this.#model.isNewest(attempt) && !this.#model.isAccepted(attempt);
    if (fault === undefined && open) {
      expect(status).toBe(201);
      this.#model.accept(attempt, bytesOf(kept));
      this.#endings.set(attempt, ending);
    } else {
      // The same bytes once more are no error, and change nothing either.
      expect([200, 400, 409, 422]).toContain(status);
      this.#tally.refused += 1;
    }
  }

  /** Fetches the prefill as the attempt's pod would, and compares every entry. */
  async #look({ attempt, instance, token, loud }: Pod): Promise<void> {
    const { run, step, attempt: number, outputs } = attempt;
    const path = loud ? step.toUpperCase() : step;
    const response = await fetch(
      `${this.#cp.stepUrl}/v1/runs/${run}/steps/${path}/variables?attempt=${String(number)}`,
      { headers: { authorization: `Bearer ${token}`, "wfvar-instance": instance } },
    );
    const body = Buffer.from(await response.arrayBuffer());
    expect(response.status).toBe(this.#model.isNewest(attempt) ? 200 : 409);
    if (response.status !== 200) return;
    expect(response.headers.get("content-digest")).toBe(contentDigestOf(body));
    const entries = await readTar(body);
    const identity = entries.find(({ name }) => name === ".step")?.bytes ?? Buffer.from("null");
    const limits = defaultLimits;
    const expected = { version: 1, run, step, attempt: number, limits, outputs };
    expect(JSON.parse(identity.toString())).toEqual(expected);
    const seen = entries.map(({ name, type, bytes }) => `${name} ${type} ${bytes.toString("hex")}`);
    const tree = [[".step", identity] as const, ...this.#model.prefillOf(attempt)].map(
      ([name, bytes]) =>
        bytes === null ? `${name} directory ` : `${name} file ${bytes.toString("hex")}`,
    );
    expect(seen.toSorted()).toEqual(tree.toSorted());
    this.#count(attempt);
  }

  /** What there was to see here that could have been got wrong. */
  #count(viewer: Attempt): void {
    const stamped = this.#pods.map((pod) => pod.attempt).filter(({ run }) => run === viewer.run);
    const steps = new Set([...viewer.dependsOn, ...stamped.map(({ step }) => step)]);
    for (const step of steps) {
      const why = whySeen(viewer, step);
      if (why === undefined) continue;
      const newest = this.#model.newestAccepted(viewer.run, step);
      if (newest === undefined) this.#tally.missing += 1;
      else {
        if (newest.values.size > 0) this.#tally[why] += 1;
        if (!this.#model.isNewest(newest)) this.#tally.superseded += 1;
      }
    }
    for (const [{ run, step }, ending] of this.#endings) {
      if (run === viewer.run && whySeen(viewer, step) && ending !== "succeeded")
        this.#tally.failed += 1;
    }
  }
}

const specOf: Record<Ending, Partial<PackSpec>> = {
  succeeded: {},
  failed: { marker: { ...goodMarker, outcome: "failed", exit_code: 1 } },
  terminated: { marker: { ...goodMarker, outcome: "terminated", exit_code: 143 } },
  "no marker": { marker: null },
  lost: { manifest: { completion: { by: "lost", marker: null } } },
  "over a limit": {
    manifest: { rejected: [{ code: "step_files_exceeded", path: ".", limit: 1024 }] },
  },
};

const spoiled: Record<Fault, (spec: PackSpec) => PackSpec> = {
  "another step's key": (spec) => ({ ...spec, values: { "a-step.stolen": "x" } }),
  "another instance": (spec) => ({ ...spec, instance: "pod-of-another" }),
  "a wrong digest": (spec) => spec,
  "not UTF-8": (spec) => ({ ...spec, values: { [`${spec.step}.bad`]: Buffer.from([0xff]) } }),
};

function sorted(values: Texts): Record<string, string> {
  return Object.fromEntries(values.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function bytesOf(texts: Texts): Values {
  return new Map(texts.map(([name, text]) => [name, Buffer.from(text)]));
}
