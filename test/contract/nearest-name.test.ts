import { describe, expect, it } from "vitest";
import { nearestName } from "../../contract/nearest-name.ts";

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

  it("compares a bounded number of names, and passes over those of another length", () => {
    const others = Array.from({ length: 300 }, (_, i) => `other${String(i).padStart(3, "0")}`);
    expect(nearestName("timout", [...others.map((name) => `${name}-longer`), "timeout"])).toBe(
      "timeout",
    );
    expect(nearestName("verdcit1", [...others, "verdict1"])).toBeUndefined();
  });
});
