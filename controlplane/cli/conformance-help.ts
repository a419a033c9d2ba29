import { describeSettings } from "../../contract/settings.ts";
import { conformanceSettings } from "../config.ts";

export const conformanceHelp = `wfvar-cp conformance (--fixture CMD | --against URL) [flags]: proves a control plane's step calls

${describeSettings(conformanceSettings)}

  CMD runs for each step that the suite needs. WFVAR_FIXTURE_KIND says which kind: step, next, retry, loop or
  iterate; the last part of spec/control-plane-api.md says what each is. It prints {"url","run","step","attempt","token"}
  and, where it can, "limits", "outputs" and "visible", or {"skip":"why"}.
  Exit codes: 0 no check failed, 1 one did, 2 the command line or the fixture is wrong
`;
