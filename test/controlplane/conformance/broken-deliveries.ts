import { jsonAnswer, jsonOf, problemAnswer } from "./broken-proxy.ts";
import type { Broken } from "./broken.ts";
import {
  accepts,
  changesPackAnswer,
  closesAfterRefusal,
  keepsCut,
  keepsHalf,
  refusesPacks,
} from "./faults.ts";

/** Control planes that take, judge or keep packs wrongly in one way. */
export const brokenDeliveries: readonly Broken[] = [
  {
    name: "answers another body with 200",
    fault: () =>
      changesPackAnswer((answer) =>
        jsonOf(answer)["code"] === "already_packed" ? jsonAnswer(200, {}) : answer,
      ),
    noticed: [
      "refuses another body of the same instance, and says which it has",
      "keeps what it accepted when another body is refused",
      "answers 409 already_packed with a whole problem document",
    ],
  },
  {
    name: "does not say which body it has",
    fault: () =>
      changesPackAnswer((answer) =>
        jsonOf(answer)["code"] === "already_packed" ? problemAnswer(409, "already_packed") : answer,
      ),
    noticed: ["refuses another body of the same instance, and says which it has"],
  },
  {
    name: "answers the same body again with 201",
    fault: () =>
      changesPackAnswer((answer) => (answer.status === 200 ? { ...answer, status: 201 } : answer)),
    noticed: [
      "answers the same body again with 200 and the first receipt",
      "accepts a pack exactly once when it comes twice at once",
      "answers an older attempt's accepted body with 200, also after a newer one is stamped",
    ],
  },
  {
    name: "sends a receipt of another digest",
    fault: () =>
      changesPackAnswer((answer) =>
        answer.status < 300
          ? jsonAnswer(answer.status, { ...jsonOf(answer), sha256: "0".repeat(64) })
          : answer,
      ),
    noticed: ["answers a pack with 201 and a receipt of what was accepted"],
  },
  {
    name: "calls every step succeeded",
    fault: () =>
      changesPackAnswer((answer) =>
        answer.status < 300
          ? jsonAnswer(answer.status, { ...jsonOf(answer), status: "succeeded", cause: null })
          : answer,
      ),
    noticed: [
      "fails a step with the cause agent_failed",
      "fails a step with the cause agent_terminated",
      "fails a step with the cause marker_invalid",
      "fails a step with the cause lost",
      "fails a step with the cause interrupted",
      "fails a step with the cause deadline",
      "fails a step with the cause never_started",
      "fails a step with the cause step_entries_exceeded",
      "fails a step with the cause step_files_exceeded",
      "fails a step with the cause step_bytes_exceeded",
    ],
  },
  {
    name: "warns of no missing output",
    fault: () =>
      changesPackAnswer((answer) =>
        answer.status < 300
          ? jsonAnswer(answer.status, { ...jsonOf(answer), warnings: [] })
          : answer,
      ),
    noticed: ["accepts a pack without its declared outputs, and warns of each that is required"],
  },
  {
    name: "looks steps up as they are spelled",
    fault: () => async (call, forward) =>
      /steps\/[^/]*[A-Z]/.test(call.path) ? problemAnswer(404, "not_found") : forward(call),
    noticed: ["looks a step up in any case"],
  },
  {
    name: "accepts a wrong digest",
    fault: (steps) => accepts(steps, /^digest_mismatch/),
    noticed: ["refuses a pack that does not match its Content-Digest"],
  },
  {
    name: "accepts what is not UTF-8",
    fault: (steps) => accepts(steps, /not UTF-8/),
    noticed: [
      "refuses a value that is not UTF-8: a byte that never is",
      "refuses a value that is not UTF-8: an overlong form",
      "refuses a value that is not UTF-8: half of a surrogate pair",
      "refuses a value that is not UTF-8: a character cut short",
      "shows nothing of a refused pack, neither before nor after the right one",
    ],
  },
  {
    name: "accepts keys that fold, or are none",
    fault: (steps) => accepts(steps, /no key of this step/),
    noticed: [
      "refuses a key of another step",
      "refuses a key that is the step's own path",
      "refuses a key in uppercase",
      "refuses a key with a blank",
      "refuses a key with a line end behind it",
      "refuses a key with the Kelvin sign, which lowercases to k",
      "refuses a key that begins with a hyphen",
      "refuses a key with an empty segment",
      "refuses a key with a segment of 65 characters",
      "refuses a key of nine segments",
      "refuses a key with a slash",
      "refuses two keys that fold to one",
    ],
  },
  {
    name: "accepts keys in any order",
    fault: (steps) => accepts(steps, /out of order/),
    noticed: ["refuses a key twice", "refuses keys that are not in ascending order"],
  },
  {
    name: "accepts a leaf over a folder",
    fault: (steps) => accepts(steps, /one spelling/),
    noticed: ["refuses a leaf that is also a folder, with no letter to tell them apart"],
  },
  {
    name: "accepts other sizes than announced",
    fault: (steps) => accepts(steps, /not the announced one/),
    noticed: ["refuses a value longer than announced", "refuses a value shorter than announced"],
  },
  {
    name: "enforces no limit",
    fault: (steps) => accepts(steps, /the limit is|more than \d+ files/),
    noticed: [
      "refuses a body longer than any pack under the limits",
      "refuses a value over max_value_bytes",
      "refuses values over max_step_bytes together",
      "refuses more than max_step_files values",
    ],
  },
  {
    name: "accepts links and devices",
    fault: (steps) => accepts(steps, /only files and folders/),
    noticed: [
      "refuses a tar with a link",
      "refuses a tar with a symlink",
      "refuses a tar with a character device",
      "refuses a tar with a block device",
      "refuses a tar with a FIFO",
      "refuses a tar with a contiguous file",
      "refuses a tar with a GNU long name",
      "refuses a tar with a GNU sparse file",
      "refuses a tar with a global PAX header",
    ],
  },
  {
    name: "does not look at the end blocks",
    fault: (steps) => accepts(steps, /end block|truncated/),
    noticed: [
      "refuses a body without a byte",
      "refuses a tar with no end blocks",
      "refuses a tar with one end block",
      "refuses a tar with a cut body",
      "refuses a tar with bytes after the end",
      "refuses a tar with a third end block",
      "refuses a tar with an entry after one end block",
    ],
  },
  {
    name: "accepts another pod's pack.json",
    fault: (steps) => accepts(steps, /instance: not the one/),
    noticed: ["refuses a pack.json of another instance than the call's"],
  },
  {
    name: "accepts values beside a limit of the whole pack",
    fault: (steps) => accepts(steps, /whole pack/),
    noticed: [
      "refuses values beside step_entries_exceeded",
      "refuses values beside step_files_exceeded",
      "refuses values beside step_bytes_exceeded",
    ],
  },
  {
    name: "keeps half of a refused pack",
    fault: keepsHalf,
    noticed: [
      "takes the right pack after a value that was not UTF-8",
      "shows nothing of a refused pack, neither before nor after the right one",
    ],
  },
  {
    name: "knows no loops",
    fault: () => async (call, forward) =>
      /steps\/[^/]*\./.test(call.path) ? problemAnswer(400, "invalid_request") : forward(call),
    noticed: [
      "shows in a loop what earlier iterations left",
      "takes both calls for a step in a loop's body",
    ],
  },
  {
    name: "counts a limit as past it",
    fault: () =>
      refusesPacks(({ variables, limits }) => {
        const bytes = variables.reduce((sum, { size }) => sum + size, 0);
        return (
          variables.some(({ size }) => size === limits.max_value_bytes) ||
          variables.length === limits.max_step_files ||
          bytes === limits.max_step_bytes
        );
      }),
    noticed: [
      "accepts a value of exactly max_value_bytes",
      "accepts values of exactly max_step_bytes together",
      "accepts exactly max_step_files values",
    ],
  },
  {
    name: "has no room for long keys",
    fault: () => refusesPacks(({ variables }) => variables.some(({ key }) => key.length > 255)),
    noticed: ["accepts the longest key: eight segments of 64 characters"],
  },
  {
    name: "has a place for a leaf or a folder, and not for both",
    fault: () =>
      refusesPacks(({ variables }) =>
        variables.some(({ key }) => variables.some((other) => other.key.startsWith(`${key}.`))),
      ),
    noticed: ["accepts a leaf and a folder of one name, which letters tell apart"],
  },
  {
    name: "takes no member of pack.json that it does not know",
    fault: () => refusesPacks((manifest) => "later" in manifest),
    noticed: ["accepts members of pack.json that it does not know"],
  },
  {
    name: "takes no pack that left something out",
    fault: () => refusesPacks(({ skipped }) => skipped.length > 0),
    noticed: ["accepts a pack that lists what the sidecar left out, and counts the rest"],
  },
  {
    name: "closes a step after a refusal",
    fault: closesAfterRefusal,
    noticed: [
      "takes the right pack after a body that did not match its digest",
      "takes the right pack after a value that was not UTF-8",
      "takes the right pack after a tar that was cut short",
      "takes the right pack after a pack.json of another instance",
      "takes the right pack after an entry that was not announced",
      "takes the right pack after a body that was too long",
      "takes the right pack after a connection that was cut in the middle of one",
      "shows nothing of a refused pack, neither before nor after the right one",
    ],
  },
  {
    name: "keeps what came before a connection was cut",
    fault: keepsCut,
    noticed: ["takes the right pack after a connection that was cut in the middle of one"],
  },
];
