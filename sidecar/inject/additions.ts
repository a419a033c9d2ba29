import type { IContainer } from "kubernetes-models/v1/Container";
import type { IEnvVar } from "kubernetes-models/v1/EnvVar";
import type { IVolume } from "kubernetes-models/v1/Volume";
import type { IVolumeMount } from "kubernetes-models/v1/VolumeMount";
import { parseStepPath } from "../../contract/ids.ts";
import { defaultRoot, rootVariable, selfVariable } from "../../contract/layout.ts";
import { version } from "../../contract/version.ts";
import type { InjectOptions } from "./inject-settings.ts";
import { prefillName, sidecarName } from "./names.ts";
import { settingsEnv } from "./settings-env.ts";
import { plainReserveS, type ShutdownPlan } from "./shutdown-plan.ts";
import {
  agentMounts,
  caFile,
  kitTarget,
  makeVolumes,
  prefillMounts,
  sidecarMounts,
  tokenFile,
} from "./volumes.ts";

/** What a pod gets, as Kubernetes' own types. */
export interface Additions {
  readonly prefill: IContainer;
  readonly sidecar: IContainer;
  readonly volumes: readonly IVolume[];
  readonly agentEnv: readonly IEnvVar[];
  readonly agentMounts: readonly IVolumeMount[];
}

export interface AdditionFacts {
  readonly options: InjectOptions;
  readonly tokenSecret: string;
  /** Both containers run as this uid. */
  readonly uid: number;
  readonly shutdown: ShutdownPlan;
}

/** Its comment in the manifest is the shutdown sum. */
export const graceVariable = "WFVAR_POD_GRACE";

export function makeAdditions({ options, tokenSecret, uid, shutdown }: AdditionFacts): Additions {
  const { kit, plain, step } = options;
  return {
    prefill: {
      name: prefillName,
      image: imageOf(options),
      args: kit === "volume" ? ["prefill", "--install-kit", kitTarget] : ["prefill"],
      env: sharedEnv(options),
      volumeMounts: prefillMounts(options),
      ...restricted(uid),
    },
    sidecar: {
      name: sidecarName,
      image: imageOf(options),
      args: ["pack"],
      ...(plain ? {} : { restartPolicy: "Always" }),
      env: [...sharedEnv(options), ...endEnv(options, shutdown)],
      volumeMounts: sidecarMounts(options),
      ...restricted(uid),
    },
    volumes: makeVolumes(options, tokenSecret),
    agentEnv: [
      { name: rootVariable, value: defaultRoot },
      { name: selfVariable, value: ownFolder(step) },
    ],
    agentMounts: agentMounts(options),
  };
}

function imageOf({ image, registry }: InjectOptions): string {
  const prefix = registry === undefined ? "" : `${registry.replace(/\/+$/, "")}/`;
  return image ?? `${prefix}wfvar-sidecar:${version}`;
}

/**
 * The restricted profile of Pod Security. Memory and CPU are requested and not limited: a throttled or killed
 * sidecar loses the step.
 */
function restricted(uid: number): Pick<IContainer, "resources" | "securityContext"> {
  return {
    resources: { requests: { cpu: "10m", memory: "64Mi" } },
    securityContext: {
      runAsNonRoot: true,
      runAsUser: uid,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
      seccompProfile: { type: "RuntimeDefault" },
    },
  };
}

function sharedEnv(options: InjectOptions): IEnvVar[] {
  const env = settingsEnv(options);
  env.push({ name: "WFVAR_TOKEN_FILE", value: tokenFile });
  if (options.caConfigMap !== undefined) env.push({ name: "WFVAR_CA_FILE", value: caFile });
  env.push({ name: "WFVAR_INSTANCE", valueFrom: { fieldRef: { fieldPath: "metadata.uid" } } });
  return env;
}

function endEnv({ plain }: InjectOptions, { graceS }: ShutdownPlan): IEnvVar[] {
  return [
    { name: graceVariable, value: `${String(graceS)}s` },
    plain
      ? { name: "WFVAR_DELIVERY_RESERVE", value: `${String(plainReserveS)}s` }
      : { name: "WFVAR_LINGER", value: "true" },
  ];
}

function ownFolder(step: string | undefined): string {
  const path = step === undefined ? undefined : parseStepPath(step);
  return path === undefined ? "" : [defaultRoot, ...path.segments].join("/");
}
