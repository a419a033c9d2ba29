import { kitFolder } from "./names.ts";

const init = [`${kitFolder}/bin/tini`, "--"];
const entrypoint = `${kitFolder}/bin/entrypoint`;

/**
 * The words that are missing in front of the agent's command: the init that reaps orphans, and the entrypoint
 * that leaves the marker (WV-15). None where a command has both already, whatever options it gives them.
 */
export function missingWrapper(command: readonly string[]): readonly string[] {
  const [first, second, third] = command;
  if (first === init[0] && second === init[1] && third === entrypoint) return [];
  return first === entrypoint ? init : [...init, entrypoint, "--"];
}
