import type { Check } from "./check.ts";
import { aftermathChecks } from "./checks/aftermath-checks.ts";
import { deliveryChecks } from "./checks/delivery-checks.ts";
import { headerChecks } from "./checks/header-checks.ts";
import { instanceChecks } from "./checks/instance-checks.ts";
import { layoutChecks } from "./checks/layout-checks.ts";
import { manifestChecks } from "./checks/manifest-checks.ts";
import { outcomeChecks } from "./checks/outcome-checks.ts";
import { prefillAnswerChecks } from "./checks/prefill-answer-checks.ts";
import { problemChecks } from "./checks/problem-checks.ts";
import { stepFileChecks } from "./checks/step-file-checks.ts";
import { tarChecks } from "./checks/tar-checks.ts";
import { tokenChecks } from "./checks/token-checks.ts";
import { valueChecks } from "./checks/value-checks.ts";
import { visibilityChecks } from "./checks/visibility-checks.ts";

/** Every check, in the order of the report: what a sidecar does first comes first. */
export const allChecks: readonly Check[] = [
  ...prefillAnswerChecks,
  ...layoutChecks,
  ...stepFileChecks,
  ...visibilityChecks,
  ...deliveryChecks,
  ...outcomeChecks,
  ...tokenChecks,
  ...instanceChecks,
  ...headerChecks,
  ...manifestChecks,
  ...valueChecks,
  ...tarChecks,
  ...aftermathChecks,
  ...problemChecks,
];
