import { isMap, isSeq, type YAMLMap, type YAMLSeq } from "yaml";
import { defaultRoot } from "../../contract/layout.ts";
import { graceVariable, type Additions } from "./additions.ts";
import { missingWrapper } from "./agent-command.ts";
import {
  caVolume,
  kitFolder,
  kitVolume,
  prefillName,
  sidecarName,
  tokenVolume,
  variablesVolume,
} from "./names.ts";
import { commentAbove, listIn, setScalar, textIn, textOf, toNode, wordsLike } from "./yaml-node.ts";
import type { ShutdownPlan } from "./shutdown-plan.ts";

/**
 * Edits a pod's spec in place. What an earlier run added is taken out first, so that a second run comes to the
 * same; everything else keeps its place, its spelling and its comments.
 */

export interface PodEdit {
  readonly agentName: string;
  readonly additions: Additions;
  readonly shutdown: ShutdownPlan;
}

const ourContainers = new Set<unknown>([prefillName, sidecarName]);
const ourVolumes = new Set<unknown>([variablesVolume, tokenVolume, caVolume, kitVolume]);
const ourMountPaths = new Set<unknown>([defaultRoot, kitFolder]);

export function editPod(spec: YAMLMap, { agentName, additions, shutdown }: PodEdit): void {
  const initContainers = listIn(spec, "initContainers");
  const containers = listIn(spec, "containers");
  for (const list of [initContainers, containers]) {
    removeItems(list, (item) => ourContainers.has(textIn(item, "name")));
  }
  addContainers(initContainers, containers, additions, shutdown);
  const agent = containers.items.find((item) => textIn(item, "name") === agentName);
  if (isMap(agent)) editAgent(agent, additions);

  if (!spec.has("restartPolicy")) setScalar(spec, "restartPolicy", "Never");
  if (!spec.has("automountServiceAccountToken")) {
    setScalar(spec, "automountServiceAccountToken", false);
  }
  setScalar(spec, "terminationGracePeriodSeconds", shutdown.graceS);
  const volumes = listIn(spec, "volumes");
  removeItems(volumes, (item) => ourVolumes.has(textIn(item, "name")));
  volumes.items.push(...additions.volumes.map(toNode));
  commentAbove(
    volumes,
    tokenVolume,
    "Mode 292 is 0444: readable to any uid, in the two containers that mount it.",
  );
}

/**
 * After the last native sidecar, which may be the mesh that the control plane is reached through, and before
 * the init containers behind it: they may read variables, and one that fails is reported by a sidecar that
 * already runs.
 */
function addContainers(
  initContainers: YAMLSeq,
  containers: YAMLSeq,
  { prefill, sidecar }: Additions,
  { sum }: ShutdownPlan,
): void {
  const sidecarNode = toNode(sidecar);
  if (isMap(sidecarNode)) commentAbove(listIn(sidecarNode, "env"), graceVariable, sum);
  const place = initContainers.items.findLastIndex(isNativeSidecar) + 1;
  initContainers.items.splice(place, 0, toNode(prefill));
  if (isNativeSidecar(sidecarNode)) initContainers.items.splice(place + 1, 0, sidecarNode);
  else containers.items.push(sidecarNode);
}

function isNativeSidecar(item: unknown): boolean {
  return textIn(item, "restartPolicy") === "Always";
}

function editAgent(agent: YAMLMap, { agentEnv, agentMounts }: Additions): void {
  agent.flow = false;
  const command = agent.get("command");
  if (isSeq(command)) {
    command.items.unshift(...wordsLike(command, missingWrapper(command.items.map(textOf))));
  }
  const env = listIn(agent, "env");
  for (const variable of agentEnv) {
    const there = env.items.find((item) => textIn(item, "name") === variable.name);
    if (!isMap(there)) {
      env.items.push(toNode(variable));
      continue;
    }
    setScalar(there, "value", variable.value ?? "");
    there.delete("valueFrom");
  }
  const mounts = listIn(agent, "volumeMounts");
  removeItems(
    mounts,
    (item) => ourVolumes.has(textIn(item, "name")) && ourMountPaths.has(textIn(item, "mountPath")),
  );
  mounts.items.push(...agentMounts.map(toNode));
}

function removeItems(list: YAMLSeq, isOurs: (item: unknown) => boolean): void {
  list.items = list.items.filter((item) => !isOurs(item));
}
