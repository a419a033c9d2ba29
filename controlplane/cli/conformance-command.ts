import { readFile } from "node:fs/promises";
import { isAllowedUrl } from "../../contract/base-url.ts";
import { escapeText } from "../../contract/escape.ts";
import { readSettings, type SettingValues } from "../../contract/settings.ts";
import { conformanceSettings } from "../config.ts";
import { allChecks } from "../conformance/all-checks.ts";
import { commandFixture } from "../conformance/command-fixture.ts";
import { FixtureError, type Fixture } from "../conformance/fixture.ts";
import { operatorFixture } from "../conformance/operator-fixture.ts";
import { runChecks, type CheckResult } from "../conformance/run-checks.ts";
import { Subject } from "../conformance/subject.ts";
import { conformanceHelp } from "./conformance-help.ts";
import { showPage } from "./show-page.ts";
import { explaining, UsageError } from "./usage-error.ts";

export interface ConformanceCommandDeps {
  readonly env: NodeJS.ProcessEnv;
  readonly out: NodeJS.WritableStream;
  /** Aborts at SIGTERM or SIGINT. */
  readonly signal: AbortSignal;
}

/**
 * `wfvar-cp conformance`: a line per check on stdout and a summary. Resolves with whether none failed; throws
 * UsageError where the command line or the fixture is wrong.
 */
export async function conformanceCommand(
  argv: readonly string[],
  deps: ConformanceCommandDeps,
): Promise<boolean> {
  const { env, out, signal } = deps;
  const read = readSettings(conformanceSettings, argv, env);
  if (showPage(read, conformanceHelp, out)) return true;
  const problems = [...read.problems];
  if (read.words.length > 0) problems.push("conformance takes flags only");
  if (problems.length > 0) throw new UsageError(problems);
  await using subject = new Subject(await openFixture(read.values, deps), signal);
  const counts = { ok: 0, fail: 0, skip: 0 };
  try {
    for await (const result of runChecks(allChecks, subject, signal)) {
      counts[result.result] += 1;
      out.write(`${read.values.json ? JSON.stringify(result) : formatResult(result)}\n`);
    }
  } catch (error) {
    if (signal.aborted) throw new UsageError(["stopped before every check was made"]);
    if (!(error instanceof FixtureError)) throw error;
    throw new UsageError([escapeText(error.message)], { cause: error });
  }
  out.write(`${read.values.json ? JSON.stringify(counts) : formatCounts(counts)}\n`);
  return counts.fail === 0;
}

async function openFixture(
  values: SettingValues<typeof conformanceSettings>,
  { env, signal }: ConformanceCommandDeps,
): Promise<Fixture> {
  const { fixture, against, operatorUrl, operatorTokenFile, allowHttp } = values;
  if (fixture !== undefined && against === undefined) {
    return commandFixture({ command: fixture, env, allowHttp, signal });
  }
  if (fixture !== undefined || against === undefined) {
    throw new UsageError(["give either --fixture CMD or --against URL; see conformance --help"]);
  }
  if ([against, operatorUrl].some((url) => !isAllowedUrl(url, { allowHttp }))) {
    throw new UsageError(["both URLs must be https:// beyond loopback, or set --allow-http"]);
  }
  const operatorToken = await explaining(
    `the operator token ${operatorTokenFile} cannot be read`,
    async () => (await readFile(operatorTokenFile, "utf8")).trim(),
  );
  return operatorFixture({ stepUrl: against, operatorUrl, operatorToken, allowHttp });
}

function formatResult({ clause, title, result, detail }: CheckResult): string {
  const mark = result === "fail" ? "FAIL" : result.padEnd(4);
  const why = detail === "" ? "" : `: ${escapeText(detail)}`;
  return `${mark} ${clause.padEnd(13)} ${title}${why}`;
}

function formatCounts({ ok, fail, skip }: Record<CheckResult["result"], number>): string {
  return `${String(ok + fail + skip)} checks: ${String(ok)} ok, ${String(fail)} failed, ${String(skip)} skipped`;
}
