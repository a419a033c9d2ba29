import { describe, expect, it } from "vitest";
import { nearestName } from "../../../controlplane/workflow/nearest-name.ts";

describe("nearestName", () => {
  it.each([
    ["timout", "timeout"],
    ["tiemout", "timeout"],
    ["timeoutt", "timeout"],
    ["Timeout", "timeout"],
    ["tmeot", undefined],
    ["tymeowt", "timeout"],
    ["tymeowtt", undefined],
    ["gaol", "goal"],
    ["goat", "goal"],
    ["gola2", undefined],
    ["go", undefined],
    ["x", undefined],
    ["", undefined],
    ["t".repeat(65), undefined],
  ])("for %s suggests %s", (name, nearest) => {
    expect(nearestName(name, ["weight", "timeout", "goal", "t".repeat(65)])).toBe(nearest);
  });

  it("takes the nearest, and the first of equals", () => {
    expect(nearestName("report", ["resort", "retort", "reports"])).toBe("resort");
    expect(nearestName("reporter", ["reported1", "reported", "reporters"])).toBe("reported");
    expect(nearestName("reporter", ["repotred", "reporter"])).toBe("reporter");
  });
});
