import { afterEach, describe, expect, it, vi } from "vitest";
import { keys, load, save, VariablesError } from "../../helper/index.ts";
import { codeOf } from "./code-of.ts";
import { variablesFolder } from "./variables-folder.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

function enter(folder: ReturnType<typeof variablesFolder>): void {
  for (const [name, value] of Object.entries(folder.env)) vi.stubEnv(name, value);
}

describe("the library (WV-13)", () => {
  it("saves, loads and lists, reading the environment at each call", () => {
    using first = variablesFolder();
    using second = variablesFolder("judge", ["judge/OTHER=2"]);
    enter(first);
    save("verdict", "CLEAN");
    expect(load("judge.VERDICT")).toBe("CLEAN");
    expect(keys()).toEqual(["verdict"]);
    enter(second);
    expect(keys()).toEqual(["other"]);
    expect(keys("judge.")).toEqual(["judge.other"]);
  });

  it("gives the default for an absent key alone", () => {
    using folder = variablesFolder("judge", ["judge/E=", "judge/l -> E"]);
    enter(folder);
    expect(load("nope", "")).toBe("");
    expect(load("e", "default")).toBe("");
    expect(codeOf(() => load("nope"))).toBe("not_found");
    expect(codeOf(() => load("l", "default"))).toBe("unsafe_path");
    expect(codeOf(() => load("a..b", "default"))).toBe("invalid_key");
  });

  it.each(["\uD83E", "a\uDD80", "\uDD80\uD83E"])("refuses half of a surrogate pair: %j", (text) => {
    using folder = variablesFolder();
    enter(folder);
    expect(
      codeOf(() => {
        save("k", text);
      }),
    ).toBe("invalid_value");
    expect(keys()).toEqual([]);
  });

  it.each([[5], [undefined], [{}], [Buffer.from("x")]])(
    "refuses %j, which is no string",
    (given) => {
      using folder = variablesFolder();
      enter(folder);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what callers without types do
      const text = given as string;
      expect(
        codeOf(() => {
          save("k", text);
        }),
      ).toBe("invalid_value");
      expect(codeOf(() => load(text))).toBe("invalid_key");
    },
  );

  it.each([[5], [null], [{ prefix: "plan." }]])(
    "refuses the prefix %j, which is no string",
    (given) => {
      using folder = variablesFolder();
      enter(folder);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what callers without types do
      expect(codeOf(() => keys(given as unknown as string))).toBe("invalid_key");
      expect(keys(undefined)).toEqual(keys());
    },
  );

  it("throws errors that carry code, key, size and limit, and no value", () => {
    using folder = variablesFolder("judge", [], { max_value_bytes: 4 });
    enter(folder);
    const error = (() => {
      try {
        save("K", "s3cret");
      } catch (thrown) {
        return thrown;
      }
      return undefined;
    })();
    expect(error).toBeInstanceOf(VariablesError);
    expect(error).toMatchObject({
      name: "VariablesError",
      code: "value_too_large",
      key: "judge.k",
      size: 6,
      limit: 4,
    });
    expect(String(error)).not.toContain("s3cret");
  });
});
