import { resolve } from "node:path";
import { describeSettings, flagOf, readSettings } from "../../contract/settings.ts";
import { version } from "../../contract/version.ts";
import { limitsOf } from "../../contract/limit-settings.ts";
import { serveSettings, type Listen } from "../config.ts";
import { createLog } from "../log.ts";
import { openControlPlane } from "../control-plane.ts";
import { showPage } from "./show-page.ts";
import { explaining, UsageError } from "./usage-error.ts";

export interface ServeCommandDeps {
  readonly env: NodeJS.ProcessEnv;
  readonly out: NodeJS.WriteStream;
  /** Aborts at SIGTERM or SIGINT. */
  readonly signal: AbortSignal;
}

export const serveHelp = `wfvar-cp serve [flags]: the control plane, until SIGTERM or SIGINT

${describeSettings(serveSettings)}
`;

/** `wfvar-cp serve`. Resolves after a signal, when what was accepted is finished and the store is closed. */
export async function serveCommand(argv: readonly string[], deps: ServeCommandDeps): Promise<void> {
  const { env, out, signal } = deps;
  const read = readSettings(serveSettings, argv, env);
  if (showPage(read, serveHelp, out)) return;
  const { values, words, problems } = read;
  const all = words.length > 0 ? [...problems, "serve takes flags only"] : problems;
  if (all.length > 0) throw new UsageError(all);
  const dataDir = resolve(values.dataDir);
  const log = createLog(values.logLevel);
  const options = { ...values, dataDir, log, limits: limitsOf(values) };
  const opened = `the data folder ${dataDir}${values.databaseUrl === undefined ? "" : " or the database"}`;
  await using cp = await explaining(`${opened} cannot be used`, () => openControlPlane(options));
  const stepUrl = await explaining(flagText(serveSettings.stepListen, values.stepListen), () =>
    cp.stepApi.listen(values.stepListen),
  );
  const operatorUrl = await explaining(
    flagText(serveSettings.operatorListen, values.operatorListen),
    () => cp.operatorApi.listen(values.operatorListen),
  );
  const token = `${cp.operatorTokenFile}${cp.operator.made ? " (made just now)" : ""}`;
  out.write(
    `wfvar-cp ${version}\n` +
      `  step calls      ${stepUrl}\n` +
      `  operator calls  ${operatorUrl}\n` +
      `  operator token  ${token}\n` +
      `  data            ${dataDir}\n`,
  );
  cp.startHousekeeping(values.keepMs);
  await aborted(signal);
  log.info({ event: "stopping" });
}

/** `--step-listen 127.0.0.1:8411 (WFVAR_STEP_LISTEN)` */
function flagText({ env }: { readonly env: string }, { host, port }: Listen): string {
  const address = host.includes(":") ? `[${host}]` : host;
  return `${flagOf(env)} ${address}:${String(port)} (${env})`;
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolveWait) => {
    signal.addEventListener("abort", () => resolveWait(), { once: true });
  });
}
