import { readFile } from "node:fs/promises";
import { describeSettings, readSettings } from "../../contract/settings.ts";
import { placesOf, rotateSettings } from "../config.ts";
import { makeFolder } from "../make-folder.ts";
import { makeOperatorToken, rotateOperatorToken } from "../operator-token.ts";
import { makeStepKeys, parseStepKeys, rotateStepKeys } from "../step-keys.ts";
import { showPage } from "./show-page.ts";
import { explaining, UsageError } from "./usage-error.ts";

export const tokenHelp = `wfvar-cp token make | show | rotate-step-key | rotate-operator-token [flags]: what opens the calls

${describeSettings(rotateSettings)}

  make makes the files that are not there yet, for whoever keeps them as Secrets: serve does so too, where it may write.
  show lists the step keys, never a secret. A new step key verifies at once and signs after the delay; the one before
  goes on verifying until the next rotation. Nothing has to be restarted.
`;

export interface TokenCommandDeps {
  readonly env: NodeJS.ProcessEnv;
  readonly out: NodeJS.WritableStream;
  readonly now: () => Date;
}

/** `wfvar-cp token`. Throws UsageError. */
export async function tokenCommand(argv: readonly string[], deps: TokenCommandDeps): Promise<void> {
  const { env, out, now } = deps;
  const read = readSettings(rotateSettings, argv, env);
  if (showPage(read, tokenHelp, out)) return;
  if (read.problems.length > 0) throw new UsageError(read.problems);
  const [action, ...extra] = read.words;
  const { dataDir, operatorTokenFile, stepKeyFile } = placesOf(read.values);
  const usingStepKeys = async <T>(use: (text: string) => T | Promise<T>): Promise<T> =>
    explaining(`the step keys ${stepKeyFile}`, async () =>
      use(await readFile(stepKeyFile, "utf8")),
    );
  switch (extra.length > 0 ? undefined : action) {
    case "make": {
      await explaining(`the data folder ${dataDir} cannot be used`, () => makeFolder(dataDir));
      const make = async (file: string, making: () => Promise<boolean>): Promise<void> => {
        const made = await explaining(`${file} cannot be made`, making);
        out.write(`${file} ${made ? "made just now" : "was there already"}\n`);
      };
      await make(operatorTokenFile, () => makeOperatorToken(operatorTokenFile));
      await make(stepKeyFile, () => makeStepKeys(stepKeyFile, now()));
      return;
    }
    case "show": {
      const keys = await usingStepKeys(parseStepKeys);
      for (const { kid, signs_from } of keys) out.write(`${kid}  signs from ${signs_from}\n`);
      return;
    }
    case "rotate-step-key": {
      const { added, dropped } = await usingStepKeys((text) =>
        rotateStepKeys(stepKeyFile, text, now(), read.values.delayMs),
      );
      out.write(`${added.kid}  signs from ${added.signs_from}\n`);
      if (dropped !== undefined) out.write(`${dropped.kid}  dropped: its tokens open nothing\n`);
      return;
    }
    case "rotate-operator-token":
      await explaining(`the operator token ${operatorTokenFile} stays as it is`, () =>
        rotateOperatorToken(operatorTokenFile),
      );
      out.write(`${operatorTokenFile} holds a new operator token; the old one opens nothing\n`);
      return;
    default:
      throw new UsageError([
        "say one of: token make, token show, token rotate-step-key, token rotate-operator-token",
      ]);
  }
}
