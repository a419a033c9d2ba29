/** The one version of helper, entrypoint, sidecar and control plane; a test holds it to package.json. */
export const version = "0.1.0";
