/** What `inject` adds to a pod is known by these names: a second run replaces it. */

export const prefillName = "wfvar-prefill";
export const sidecarName = "wfvar-sidecar";
export const variablesVolume = "wfvar-variables";
export const tokenVolume = "wfvar-token";
export const caVolume = "wfvar-ca";
export const kitVolume = "wfvar-kit";

/** The agent's kit, in every image and in `--kit volume`. */
export const kitFolder = "/opt/agent";
