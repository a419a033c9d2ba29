import { describe, expect, it } from "vitest";
import {
  count,
  describeSettings,
  durationMs,
  readSettings,
  text,
  toggle,
} from "../../contract/settings.ts";

const settings = {
  url: text({ env: "WFVAR_CP_URL", placeholder: "URL", help: "", required: true }),
  grace: durationMs({ env: "WFVAR_POD_GRACE", placeholder: "TIME", help: "", fallback: 30_000 }),
  attempt: count({ env: "WFVAR_ATTEMPT", placeholder: "N", help: "" }),
  linger: toggle({ env: "WFVAR_LINGER", help: "", fallback: false }),
} as const;

describe("readSettings", () => {
  it("takes the flag before the environment before the fallback", () => {
    const env = { WFVAR_CP_URL: "a", WFVAR_ATTEMPT: "2" };
    const { values, problems } = readSettings(settings, ["--cp-url", "b", "--linger"], env);
    expect(problems).toEqual([]);
    expect(values).toEqual({ url: "b", grace: 30_000, attempt: 2, linger: true });
  });

  it("reads --flag=value and keeps words and everything after --", () => {
    const read = readSettings(settings, ["x", "--cp-url=b=c", "--", "--grace"], {});
    expect(read.values.url).toBe("b=c");
    expect(read.words).toEqual(["x", "--grace"]);
  });

  it("reports every problem at once, by name and never by value", () => {
    const env = { WFVAR_POD_GRACE: "s3cret" };
    const { problems } = readSettings(settings, ["--attempt", "0", "--nope"], env);
    expect(problems).toEqual([
      "unknown flag --nope",
      "WFVAR_CP_URL is required: not empty",
      "WFVAR_POD_GRACE must be a duration such as 30s, 500ms or 2m",
      "--attempt must be a whole number from 1",
    ]);
  });

  it("treats an empty variable as unset and a flag without a value as a problem", () => {
    const { problems } = readSettings(settings, ["--attempt"], { WFVAR_CP_URL: "" });
    expect(problems).toEqual(["--attempt needs a value", "WFVAR_CP_URL is required: not empty"]);
  });

  it("names the flag that was meant, and takes no value of it for a word", () => {
    const { words, problems } = readSettings(
      settings,
      ["--cp-ulr", "s3cret", "--lingre", "x", "--inptu", "y", "--nope", "z"],
      { WFVAR_CP_URL: "u" },
      ["--input"],
    );
    expect(problems).toEqual([
      "unknown flag --cp-ulr (did you mean `--cp-url`?)",
      "unknown flag --lingre (did you mean `--linger`?)",
      "unknown flag --inptu (did you mean `--input`?)",
      "unknown flag --nope",
    ]);
    // A switch has no value, and nobody knows what `--nope` would have.
    expect(words).toEqual(["x", "z"]);
  });

  it("says how a flag's variable is called, where its name does not", () => {
    const url = text({ env: "DATABASE_URL", placeholder: "URL", help: "" });
    const page = describeSettings({ database: url, ...settings });
    expect(page).toMatch(/--database-url URL .*\[DATABASE_URL\]/);
    expect(page).toMatch(/ as --cp-url is WFVAR_CP_URL$/);
  });

  it("sees --help and --version", () => {
    expect(readSettings(settings, ["-h"], {})).toMatchObject({ help: true, words: [] });
    expect(readSettings(settings, ["--help"], {})).toMatchObject({ help: true, version: false });
    expect(readSettings(settings, ["--version"], {})).toMatchObject({ version: true });
  });
});
