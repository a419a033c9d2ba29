"""Reads many packs in one Python and prints what came of each.

Reads and writes JSON: ``[{"body", "digest", "call", "limits", "outputs", "missingOutput"}, …]`` in, ``[{"manifest",
"values", "receipt"} | {"code", "status", "detail"}, …]`` out; bytes are base64.
"""

import base64
import json
import sys

from wfvar_cp import Limits, Output, Refusal, StepCall, judge_pack, read_pack


class ShortReads:
    """A body that gives less than it is asked for, as a socket may."""

    def __init__(self, body):
        self.body = memoryview(body)

    def read(self, size):
        size = min(size, 700 if len(self.body) < 100_000 else 70_000)
        chunk, self.body = bytes(self.body[:size]), self.body[size:]
        return chunk


def run(sent):
    body = base64.b64decode(sent["body"])
    stream = ShortReads(body)
    digest = "sha-256=:{}:".format(sent["digest"])
    try:
        pack = read_pack(stream, str(len(body)), digest, StepCall(**sent["call"]), Limits(**sent["limits"]))
    except Refusal as refusal:
        problem = refusal.problem()
        return {name: problem[name] for name in ("code", "status", "detail")}
    outputs = [Output(**output) for output in sent["outputs"]]
    return {
        "manifest": pack.manifest,
        "values": {key: base64.b64encode(value).decode() for key, value in pack.values.items()},
        "receipt": judge_pack(pack, outputs, sent["missingOutput"]),
    }


json.dump([run(sent) for sent in json.load(sys.stdin)], sys.stdout)
