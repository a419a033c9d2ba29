import { readFileSync } from "node:fs";
import { rotateSettings, serveSettings } from "../../controlplane/config.ts";
import { injectSettings } from "../../sidecar/inject/inject-settings.ts";
import { sidecarSettings } from "../../sidecar/settings.ts";

const invocation = readFileSync("entrypoint/invocation.ts", "utf8");

/** The environment variables that any of our processes reads. */
export const settingNames: ReadonlySet<string> = new Set([
  ...[sidecarSettings, injectSettings, serveSettings, rotateSettings].flatMap((each) =>
    Object.values(each).map(({ env }) => env),
  ),
  ...[...invocation.matchAll(/env: "(\w+)"/g)].map(([, env = ""]) => env),
]);

/** Names of settings in a text that none of our processes reads. */
export function unknownSettings(text: string): string[] {
  const names = [...text.matchAll(/\bWFVAR_[A-Z_]*[A-Z]\b/g)].map(([name]) => name);
  return names.filter((name) => !settingNames.has(name));
}
