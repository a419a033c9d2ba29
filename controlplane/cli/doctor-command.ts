import { accessSync, constants, existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { describeSettings, readSettings, type SettingValues } from "../../contract/settings.ts";
import { doctorSettings, placesOf, type Listen } from "../config.ts";
import { isOperatorToken } from "../operator-token.ts";
import { inspectDatabase } from "../store/inspect-database.ts";
import { parseStepKeys } from "../step-keys.ts";
import { whyFailed } from "./errno-words.ts";
import type { ServeCommandDeps } from "./serve-command.ts";
import { showPage } from "./show-page.ts";
import { UsageError } from "./usage-error.ts";

export const doctorHelp = `wfvar-cp doctor [flags]: checks what serve needs, and says what to mend; changes nothing

${describeSettings(doctorSettings)}

  Exit codes: 0 all is well, 1 something is to be mended, 2 the command line is wrong
`;

type Checked = SettingValues<typeof doctorSettings>;
type Check = (settings: Checked) => string | Promise<string>;

/** What a check found to be wrong, and what to do. */
class Fault extends Error {}

const checks: readonly (readonly [string, Check])[] = [
  ["data folder", checkFolder],
  ["operator token", checkOperatorToken],
  ["step keys", checkStepKeys],
  ["database", checkDatabase],
  ["step calls", ({ stepListen }) => checkListen(stepListen)],
  ["operator calls", ({ operatorListen }) => checkListen(operatorListen)],
];

/** `wfvar-cp doctor`: resolves with whether all is well. Throws UsageError. */
export async function doctorCommand(
  argv: readonly string[],
  { env, out }: Pick<ServeCommandDeps, "env" | "out">,
): Promise<boolean> {
  const read = readSettings(doctorSettings, argv, env);
  if (showPage(read, doctorHelp, out)) return true;
  const { values, words } = read;
  const problems = words.length > 0 ? [...read.problems, "doctor takes flags only"] : read.problems;
  if (problems.length > 0) throw new UsageError(problems);
  let well = true;
  for (const [name, check] of checks) {
    let verdict = "ok     ";
    let text: string;
    try {
      text = await check(values);
    } catch (error) {
      verdict = "PROBLEM";
      text = error instanceof Fault ? error.message : whyFailed(error);
      well = false;
    }
    out.write(`${verdict}  ${name.padEnd(14)}  ${text}\n`);
  }
  return well;
}

function checkFolder(settings: Checked): string {
  const { dataDir } = placesOf(settings);
  if (!existsSync(dataDir)) return `${dataDir} is not there yet; serve makes it`;
  accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  return dataDir;
}

function checkOperatorToken(settings: Checked): string {
  const { operatorTokenFile: file } = placesOf(settings);
  if (!existsSync(file)) return `${file} is not there yet; serve makes it`;
  if (!isOperatorToken(readFileSync(file, "utf8"))) {
    throw new Fault(`${file} holds no token of 16 characters or more: remove it, or fill it`);
  }
  return describeSecret(file);
}

function checkStepKeys(settings: Checked): string {
  const { stepKeyFile: file } = placesOf(settings);
  if (!existsSync(file)) return `${file} is not there yet; serve makes it`;
  const keys = parseStepKeys(readFileSync(file, "utf8"));
  return `${describeSecret(file)}, ${String(keys.length)} of at most 2`;
}

/** A mounted Secret's mode is the mount's affair: only what the world may read is a fault. */
function describeSecret(file: string): string {
  if ((statSync(file).mode & 0o004) !== 0) {
    throw new Fault(`${file} may be read by everyone: chmod 600 ${file}`);
  }
  return file;
}

async function checkDatabase(settings: Checked): Promise<string> {
  const { databaseFile } = placesOf(settings);
  return inspectDatabase(databaseFile, settings.databaseUrl);
}

/** Free, or a control plane's already. */
async function checkListen({ host, port }: Listen): Promise<string> {
  const where = `${host}:${String(port)}`;
  const server = createServer().listen(port, host);
  try {
    await once(server, "listening");
    return `${where} is free`;
  } catch (error) {
    const taken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
    if (!taken) throw new Fault(`${where} cannot be listened on: ${whyFailed(error)}`);
  } finally {
    server.close();
  }
  if (await answersAsControlPlane(host, port)) return `${where} is a control plane's already`;
  throw new Fault(`${where} is in use by another program: choose another port`);
}

async function answersAsControlPlane(host: string, port: number): Promise<boolean> {
  const address = host === "0.0.0.0" ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;
  try {
    const signal = AbortSignal.timeout(2_000);
    const answer = await fetch(`http://${address}:${String(port)}/v1/nothing`, { signal });
    return answer.headers.get("content-type")?.startsWith("application/problem+json") ?? false;
  } catch {
    return false;
  }
}
