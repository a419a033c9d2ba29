import {
  caVolume,
  kitVolume,
  prefillName,
  sidecarName,
  tokenVolume,
  variablesVolume,
} from "./names.ts";
import type { Container, PodSpec, Volume } from "./workload.ts";

/** Names of ours that a pod uses for something else, or in a place where they must not be. */
export function nameProblems(pod: PodSpec): string[] {
  return [...takenNames(pod), ...tokenProblems(pod)];
}

function takenNames(pod: PodSpec): string[] {
  const taken = [
    ...containersOf(pod)
      .filter((container) => isOurName(container.name) && !isOurs(container))
      .map(({ name }) => `container ${name}`),
    ...(pod.volumes ?? [])
      .filter((volume) => ourVolumes.get(volume.name)?.(volume) === false)
      .map(({ name }) => `volume ${name}`),
  ];
  return taken.map((what) => `has a ${what} that is not ours: give it another name`);
}

function tokenProblems(pod: PodSpec): string[] {
  return containersOf(pod)
    .filter(({ name }) => !isOurName(name))
    .filter(({ volumeMounts }) => volumeMounts?.some((mount) => mount.name === tokenVolume))
    .map(
      ({ name }) =>
        `container ${name} mounts ${tokenVolume}, and the token is the sidecar's alone: remove the mount`,
    );
}

function containersOf({ initContainers, containers }: PodSpec): Container[] {
  return [...(initContainers ?? []), ...containers];
}

const ourSubcommands = new Map([
  [prefillName, "prefill"],
  [sidecarName, "pack"],
]);

function isOurName(name: string): boolean {
  return ourSubcommands.has(name);
}

function isOurs({ name, args }: Container): boolean {
  return args?.[0] === ourSubcommands.get(name);
}

/** By name, whether a volume is of the kind that injection adds. */
const ourVolumes = new Map<string, (volume: Volume) => boolean>([
  [variablesVolume, ({ emptyDir }) => emptyDir?.medium === "Memory"],
  [tokenVolume, ({ secret }) => Boolean(secret)],
  [caVolume, ({ configMap }) => Boolean(configMap)],
  [kitVolume, ({ emptyDir }) => Boolean(emptyDir)],
]);
