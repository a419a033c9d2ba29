import { describe } from "vitest";
import { brokenPrefills } from "./broken-prefills.ts";
import { itNotices } from "./broken.ts";

describe("the conformance suite notices a control plane that", () => {
  itNotices(brokenPrefills);
});
