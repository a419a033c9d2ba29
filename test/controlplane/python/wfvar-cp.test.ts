import { describe, expect, it } from "vitest";
import { apiCodes } from "../../../contract/codes.ts";
import { defaultLimits, maxManifestBytes } from "../../../contract/limits.ts";
import { reservedWords } from "../../../contract/reserved-words.ts";
import { version } from "../../../contract/version.ts";
import { problem } from "../../../contract/wire.ts";
import { ApiError } from "../../../controlplane/api-error.ts";
import { callPython } from "./call-python.ts";

/** Codes of operator calls alone. */
const operatorCodes = ["run_exists", "attempt_exists"];

describe("wfvar_cp.py", () => {
  it("says the same as the contract", () => {
    const script = `
result = {
    "version": kit.__version__, "statuses": kit.STATUSES, "limits": vars(kit.Limits()),
    "words": kit._RESERVED.split("|"), "manifest": kit.MAX_MANIFEST_BYTES,
}`;
    const codes = apiCodes.filter((code) => !operatorCodes.includes(code));
    expect(callPython(script)).toEqual({
      version,
      statuses: Object.fromEntries(codes.map((code) => [code, new ApiError(code, "").status])),
      limits: defaultLimits,
      words: [...reservedWords],
      manifest: maxManifestBytes,
    });
  });

  it("has a problem document for every code that a sidecar reads", () => {
    const script = `result = [kit.Refusal(code, "one line").problem() for code in given]`;
    const codes = apiCodes.filter((code) => !operatorCodes.includes(code));
    const documents = callPython(script, codes);
    expect(documents).toMatchObject(codes.map((code) => ({ code, detail: "one line" })));
    expect(problem.array().parse(documents)).toEqual(documents);
  });
});

describe("what a step call names", () => {
  const good = { run: "Run-1.a_b", step: "judge", attempt: "1", instance: "pod-1" };
  const parse = (calls: readonly object[]): unknown =>
    callPython(
      `
def parse(call):
    try:
        return vars(kit.StepCall.parse(**call))
    except kit.Refusal as refusal:
        return [refusal.code, refusal.detail.split(":")[0]]
result = [parse(call) for call in given]`,
      calls.map((call) => ({ ...good, ...call })),
    );

  it("is read, its step in lowercase", () => {
    expect(parse([{ step: "Review-Loop_2.JUDGE", attempt: "1000000" }])).toEqual([
      { run: "Run-1.a_b", step: "review-loop_2.judge", attempt: 1_000_000, instance: "pod-1" },
    ]);
  });

  it("is refused by the name of what is wrong", () => {
    const wrong: [keyof typeof good, (string | null)[]][] = [
      ["run", ["", "../x", "r\n", "r".repeat(129)]],
      ["step", ["judge_1", "if", "a.b.c", "\u212audge", "for_1.judge", ""]],
      ["attempt", ["0", "1000001", "1.0", "-1", "\u0661", ""]],
      ["instance", ["", "pod 1", "i".repeat(129), null]],
    ];
    for (const [name, values] of wrong) {
      const refusals = parse(values.map((value) => ({ [name]: value })));
      expect(refusals).toEqual(values.map(() => ["invalid_request", name]));
    }
  });
});

describe("whose turn a call is (WV-12)", () => {
  const mine = { holder: "pod-1" };
  const done = { ...mine, accepted_sha256: "a" };
  const other = { holder: "pod-2" };
  const old = { is_newest: false };
  const cases: [title: string, sha256: string | null, state: object, expected: unknown][] = [
    ["a prefill claims", null, {}, true],
    ["a prefill again goes on", null, mine, true],
    ["a prefill after the pack goes on", null, done, true],
    ["another pod's prefill is stale", null, other, ["stale_instance", {}]],
    ["an older attempt's prefill is stale", null, old, ["stale_attempt", {}]],
    ["a pack without a prefill claims", "a", {}, true],
    ["a pack of the pod that claimed is stored", "a", mine, true],
    ["the same pack again is known", "a", done, false],
    ["the same pack again is known after a newer attempt too", "a", { ...done, ...old }, false],
    ["another pack is refused", "b", done, ["already_packed", { accepted_sha256: "a" }]],
    [
      "another pod is stale, with the same pack",
      "a",
      { ...done, ...other },
      ["stale_instance", {}],
    ],
    ["another pod of an older attempt", "a", { ...other, ...old }, ["stale_attempt", {}]],
  ];
  const state = { is_newest: true, holder: null, accepted_sha256: null };
  const outcomes = callPython(
    `
def admit(sha256, state):
    try:
        return kit.admit(kit.StepCall("r-1", "judge", 1, "pod-1"), sha256, **state)
    except kit.Refusal as refusal:
        return [refusal.code, refusal.fields]
result = [admit(*one) for one in given]`,
    cases.map(([, sha256, over]) => [sha256, { ...state, ...over }]),
  ) as unknown[];

  it.each(cases.map(([title, , , expected], i) => [title, outcomes[i], expected]))(
    "%s",
    (_title, outcome, expected) => {
      expect(outcome).toEqual(expected);
    },
  );
});

/** A pack of one value, and a body that counts what is read of it. */
const PACK = `
import base64, hashlib, tarfile, tracemalloc
class Body:
    def __init__(self, *parts):
        self.bytes, self.asked, self.given = b"".join(parts), 0, 0
    def read(self, size):
        self.asked += size
        chunk = self.bytes[self.given : self.given + size]
        self.given += len(chunk)
        return chunk
def entry(name, content, size=None):
    header = kit._tar_header(name, tarfile.REGTYPE, 0o444, len(content) if size is None else size)
    return header + content + bytes(-len(content) % 512)
def manifest(*variables):
    limits = vars(kit.Limits())
    return json.dumps({
        "version": 1, "run": "r-1", "step": "judge", "attempt": 1, "instance": "pod-1", "limits": limits,
        "completion": {"by": "lost", "marker": None}, "variables": [dict(zip(("key", "size"), one)) for one in variables],
        "rejected": [], "skipped": [], "more": {}, "sidecar": "0.1.0",
    }).encode()
def digest_of(body):
    return "sha-256=:{}:".format(base64.b64encode(hashlib.sha256(body.bytes).digest()).decode())
def read(body, length="", digest="", limits=kit.Limits()):
    length = str(len(body.bytes)) if length == "" else None if length is None else str(length)
    digest = digest_of(body) if digest == "" else digest
    try:
        return kit.read_pack(body, length, digest, kit.StepCall("r-1", "judge", 1, "pod-1"), limits)
    except (kit.Refusal, EOFError) as error:
        return getattr(error, "code", type(error).__name__)
good = Body(entry("pack.json", manifest(("judge.v", 1))), entry("values/judge.v", b"1"), bytes(1024))
`;

describe("reading a pack from a stream", () => {
  it("refuses what its headers do not describe", () => {
    const calls: [call: string, code: string][] = [
      ["read(good, None)", "length_required"],
      [`read(good, "1e3")`, "invalid_request"],
      [`read(good, "-1")`, "invalid_request"],
      [`read(good, "\\u0661")`, "invalid_request"],
      ["read(good, digest=None)", "invalid_request"],
      [`read(good, digest=digest_of(good) + ", " + digest_of(good))`, "invalid_request"],
      [`read(good, digest="sha-512=:AAAA:")`, "invalid_request"],
      ["read(good, len(good.bytes) + 512)", "invalid_pack"],
      ["read(good, len(good.bytes) - 512)", "invalid_pack"],
      ["read(Body(good.bytes[:700]), len(good.bytes))", "EOFError"],
    ];
    const outcomes = calls.map(([call]) => `    lambda: ${call},`).join("\n");
    const script = `${PACK}
calls = [
${outcomes}
]
result = []
for call in calls:
    good.given = 0
    result.append(call())`;
    expect(callPython(script)).toEqual(calls.map(([, code]) => code));
  });

  it("never reads past Content-Length, where the next request may begin", () => {
    const script = `${PACK}
long = Body(good.bytes, b"GET / HTTP/1.1")
pack = read(long, str(len(good.bytes)), digest_of(good))
result = [pack.sha256 == hashlib.sha256(good.bytes).hexdigest(), long.asked == len(good.bytes)]`;
    expect(callPython(script)).toEqual([true, true]);
  });

  it("reads nothing of a body that is over the limit", () => {
    const script = `${PACK}
limits = kit.Limits(max_step_bytes=1, max_step_files=1)
most = 1 + 4 * 1024**2 + 2048
result = [read(good, str(most + 1), limits=limits), good.asked, read(good, str(most), limits=limits)]`;
    expect(callPython(script)).toEqual(["too_large", 0, "invalid_pack"]);
  });

  it("asks for no content before its size was found in bounds", () => {
    const script = `${PACK}
def asked(*parts):
    body = Body(*parts, bytes(100_000))
    return [read(body), body.asked]
result = [
    asked(entry("pack.json", b"", size=8 * 1024**3 - 1)),
    asked(entry("pack.json", b"", size=4 * 1024**2 + 1)),
    asked(entry("pack.json", manifest(("judge.v", 1024**2 + 1)))),
    asked(entry("pack.json", manifest(("judge.v", 1))), entry("values/judge.v", b"", size=2)),
]`;
    const small = [
      ["invalid_pack", 512],
      ["invalid_pack", 512],
      ["invalid_pack", 512 + 512],
      ["invalid_pack", 512 + 512 + 512],
    ];
    expect(callPython(script)).toEqual(small);
  });

  it("holds the values once, whatever the step's limit", () => {
    const script = `${PACK}
size, count = 1024**2, 16
keys = ["judge.v{:02}".format(i) for i in range(count)]
parts = [entry("pack.json", manifest(*((key, size) for key in keys)))]
parts += [entry("values/" + key, b"x" * size) for key in keys]
body = Body(*parts, bytes(1024))
digest = digest_of(body)
del parts
tracemalloc.start()
pack = read(body, digest=digest)
_, peak = tracemalloc.get_traced_memory()
result = [len(pack.values), peak < (count + 4) * size]`;
    expect(callPython(script)).toEqual([16, true]);
  });

  it("refuses pack.json that is nested deeper than Python reads", () => {
    const script = `${PACK}
deep = b'{"extra":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
result = read(Body(entry("pack.json", deep), bytes(1024)))`;
    expect(callPython(script)).toBe("invalid_pack");
  });
});
