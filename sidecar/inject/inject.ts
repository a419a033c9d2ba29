import { isMap } from "yaml";
import { makeAdditions } from "./additions.ts";
import { editPod } from "./edit-pod.ts";
import type { InjectOptions } from "./inject-settings.ts";
import { printDocument, readManifest, type ManifestDocument } from "./manifest.ts";
import { refusalsOf } from "./refusals.ts";
import { readFacts, type StepFacts } from "./step-facts.ts";
import { warningsOf } from "./warnings.ts";
import { findWorkloads, type Workload } from "./workload.ts";
import { writeOutAliases } from "./write-out-aliases.ts";
import { openPath, setScalar } from "./yaml-node.ts";

export interface Injected {
  /** The manifest with its additions; to be used only where there are no problems. */
  readonly text: string;
  /** What stands against it, one line each. */
  readonly problems: readonly string[];
  /** What the reader should know, one line each. */
  readonly warnings: readonly string[];
}

/**
 * Adds volume, prefill, sidecar and entrypoint to every Pod, Job and CronJob of a manifest (YAML or JSON). Pure.
 * Documents without one come out byte for byte; a manifest that was injected before comes out the same.
 */
export function inject(manifest: string, options: InjectOptions): Injected {
  const { documents, problems: unreadable } = readManifest(manifest);
  if (unreadable.length > 0) return refused(unreadable);
  const found = documents.map((document) => ({ document, ...findWorkloads(document.value) }));
  const workloads = found.flatMap((one) => one.workloads);
  const problems = [
    ...found.flatMap((one) => one.problems),
    ...workloads.flatMap((workload) => refusalsOf(workload, options)),
  ];
  if (workloads.length === 0 && problems.length === 0) {
    problems.push("the manifest has no Pod, Job or CronJob");
  }
  if (workloads.length > 1 && options.step !== undefined) {
    problems.push(`${labels(workloads)}: a stamped step is for one pod: keep each in its own file`);
  }
  if (problems.length > 0) return refused(problems);

  const warnings: string[] = [];
  const texts = found.map(({ document, workloads: inDocument }) => {
    if (inDocument.length === 0) return document.source;
    if (writeOutAliases(document.nodes)) {
      warnings.push(`${labels(inDocument)}: anchors and merge keys are written out`);
    }
    for (const workload of inDocument) {
      const facts = readFacts(workload, options);
      warnings.push(...warningsOf(facts, options));
      edit(document, facts, options);
    }
    return printDocument(document);
  });
  return { text: texts.join(""), problems: [], warnings };
}

function refused(problems: readonly string[]): Injected {
  return { text: "", problems, warnings: [] };
}

function labels(workloads: readonly Workload[]): string {
  return workloads.map(({ label }) => label).join(", ");
}

function edit({ nodes }: ManifestDocument, facts: StepFacts, options: InjectOptions): void {
  const { workload, agent, shutdown, sidecarUid } = facts;
  const { podPath, job, name } = workload;
  openPath(nodes, podPath);
  const spec = nodes.getIn(podPath);
  const tokenSecret = options.tokenSecret ?? `${name ?? ""}-wfvar-token`;
  const additions = makeAdditions({ options, shutdown, tokenSecret, uid: sidecarUid });
  if (isMap(spec)) editPod(spec, { agentName: agent.name, additions, shutdown });
  const jobSpec = job === undefined ? undefined : nodes.getIn(job.path);
  if (isMap(jobSpec)) setScalar(jobSpec, "backoffLimit", 0);
}
