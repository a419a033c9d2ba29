import { describe } from "vitest";
import { brokenDeliveries } from "./broken-deliveries.ts";
import { itNotices } from "./broken.ts";

describe("the conformance suite notices a control plane that", () => {
  itNotices(brokenDeliveries);
});
