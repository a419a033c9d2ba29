import type { IVolume } from "kubernetes-models/v1/Volume";
import type { IVolumeMount } from "kubernetes-models/v1/VolumeMount";
import { defaultRoot } from "../../contract/layout.ts";
import { defaultLimits } from "../../contract/limits.ts";
import { parseSizeBytes } from "../../contract/quantity.ts";
import type { InjectOptions } from "./inject-settings.ts";
import { caVolume, kitFolder, kitVolume, tokenVolume, variablesVolume } from "./names.ts";

/** The volumes that a pod gets, and who mounts which of them where. */

const tokenFolder = "/var/run/secrets/wfvar";
const tokenKey = "token";
const caFolder = "/etc/wfvar";
const caKey = "ca.crt";

export const tokenFile = `${tokenFolder}/${tokenKey}`;
export const caFile = `${caFolder}/${caKey}`;
/** Where prefill sees the kit's volume: at `/opt/agent` it has the kit to copy from. */
export const kitTarget = "/kit";

const MiB = 1024 ** 2;
/** Room beside the step's values: a prefill of 32 MiB, and files that are being replaced. */
const spareMiB = 48;
/** On disk, and only what is in it counts: scripts, bundles, a private Node. */
const kitSizeLimit = "512Mi";

export function makeVolumes(options: InjectOptions, tokenSecret: string): IVolume[] {
  const stepBytes = parseSizeBytes(options.maxStepBytes ?? "") ?? defaultLimits.max_step_bytes;
  const sizeLimit = `${String(Math.ceil(stepBytes / MiB) + spareMiB)}Mi`;
  const volumes: IVolume[] = [
    { name: variablesVolume, emptyDir: { medium: "Memory", sizeLimit } },
    {
      name: tokenVolume,
      secret: {
        secretName: tokenSecret,
        defaultMode: 0o444,
        items: [{ key: tokenKey, path: tokenKey }],
      },
    },
  ];
  if (options.caConfigMap !== undefined) {
    const items = [{ key: caKey, path: caKey }];
    volumes.push({ name: caVolume, configMap: { name: options.caConfigMap, items } });
  }
  if (options.kit === "volume") {
    volumes.push({ name: kitVolume, emptyDir: { sizeLimit: kitSizeLimit } });
  }
  return volumes;
}

/** Of prefill and sidecar; the token and the issuer are theirs alone. */
export function sidecarMounts({ caConfigMap }: InjectOptions): IVolumeMount[] {
  const mounts: IVolumeMount[] = [
    { name: variablesVolume, mountPath: defaultRoot },
    { name: tokenVolume, mountPath: tokenFolder, readOnly: true },
  ];
  if (caConfigMap !== undefined) {
    mounts.push({ name: caVolume, mountPath: caFolder, readOnly: true });
  }
  return mounts;
}

export function prefillMounts(options: InjectOptions): IVolumeMount[] {
  const mounts = sidecarMounts(options);
  if (options.kit === "volume") mounts.push({ name: kitVolume, mountPath: kitTarget });
  return mounts;
}

export function agentMounts({ kit }: InjectOptions): IVolumeMount[] {
  const mounts: IVolumeMount[] = [{ name: variablesVolume, mountPath: defaultRoot }];
  if (kit === "volume") mounts.push({ name: kitVolume, mountPath: kitFolder, readOnly: true });
  return mounts;
}
