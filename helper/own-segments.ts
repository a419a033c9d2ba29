import { workflowFolder } from "../contract/layout.ts";
import { checkDepth } from "./checked-key.ts";
import { EntryBudget } from "./entry-budget.ts";
import { withoutOwnPrefix } from "./own-prefix.ts";
import type { Step } from "./step.ts";
import { VariablesError } from "./variables-error.ts";

/**
 * What a checked key means to a writer: its segments from the own folder on (WV-13). Throws
 * `outside_own_step` where it means another folder, `invalid_key` where it is too deep.
 */
export function ownSegments(segments: readonly string[], step: Step): readonly string[] {
  const inOwn = withoutOwnPrefix(segments, step.path);
  if (inOwn !== undefined) return inOwn;
  const [first = ""] = segments;
  if (first === workflowFolder || isOthersFolder(first, step)) {
    throw new VariablesError(
      "outside_own_step",
      `${first} names a folder outside the step's own, and only the own one is written: if an own key is meant, write ${step.path.text}.<key>`,
      { key: segments.join(".") },
    );
  }
  checkDepth(segments, step.path);
  return segments;
}

/** True where the segment names a folder under the root, in any case, that is not the own one. A loop's folder is not the own one. */
function isOthersFolder(segment: string, { root, path }: Step): boolean {
  return segment !== path.text && root.list(EntryBudget.ofRoot()).folders.has(segment);
}
