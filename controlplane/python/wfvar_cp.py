"""The step calls of the control plane API, for a control plane in Python.

Builds what a step's sidecar fetches (``build_prefill``) and checks what it delivers (``read_pack``), as if
the sidecar were hostile: every limit, key, size and byte is checked again here. ``admit`` and ``judge_pack``
say what a pack does to its step. No server and no storage: those are yours. Copy this file into your service;
it needs Python 3.8 and nothing else. Clauses ``WV-n`` are those of ``spec/workflow-variables.md``.

What a caller over HTTP got wrong raises ``Refusal``, which has the status and the problem document. What your
own code got wrong raises ``ValueError``.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import tarfile
from dataclasses import asdict, dataclass
from typing import Any, Collection, Iterable, Iterator, Mapping, NoReturn, Protocol, Sequence

__version__ = "0.1.0"

MAX_PREFILL_BYTES = 32 * 1024**2
MAX_PREFILL_ENTRIES = 65_536
MAX_MANIFEST_BYTES = 4 * 1024**2

# fmt: off
STATUSES = {
    "invalid_request": 400, "digest_mismatch": 400, "unauthorized": 401, "forbidden": 403, "not_found": 404,
    "already_packed": 409, "stale_instance": 409, "stale_attempt": 409, "length_required": 411,
    "too_large": 413, "invalid_pack": 422, "internal_error": 500, "unavailable": 503,
}
# fmt: on
"""The codes of the step calls and their HTTP statuses."""


class Refusal(Exception):
    """An answer that is no success; ``detail`` is one line for a person, never with a value or a token."""

    def __init__(self, code: str, detail: str, **fields: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code, self.detail, self.fields, self.status = code, detail, fields, STATUSES[code]

    def problem(self) -> dict[str, Any]:
        """The problem document (RFC 9457), to be sent as ``application/problem+json``."""
        title = self.code.replace("_", " ").capitalize()
        told = {"code": self.code, "detail": self.detail, **self.fields}
        return {"type": "about:blank", "title": title, "status": self.status, **told}


@dataclass(frozen=True)
class Limits:
    """The limits of WV-5, sizes in bytes. ``max_step_files`` cannot be over 4096."""

    max_value_bytes: int = 1024**2
    max_step_bytes: int = 16 * 1024**2
    max_step_files: int = 1024
    max_step_entries: int = 16_384


@dataclass(frozen=True)
class StepCall:
    """Which step attempt a call is for, and which pod makes it."""

    run: str
    step: str
    attempt: int
    instance: str

    @classmethod
    def parse(cls, run: str, step: str, attempt: str, instance: str | None) -> StepCall:
        """Of the URL's decoded parts and the ``Wfvar-Instance`` header. Raises ``invalid_request``."""
        number = float(attempt) if re.fullmatch("[0-9]{1,7}", attempt) else attempt
        given = {"run": run, "step": step, "attempt": number, "instance": instance}
        try:
            return cls(**_check(_CALL, given, ""))
        except ValueError as error:
            raise Refusal("invalid_request", str(error)) from None


@dataclass(frozen=True)
class Output:
    """A declared output (WV-10). ``key`` is relative to the step, in lowercase."""

    key: str
    kind: str = "text"
    options: Sequence[str] | None = None
    required: bool = True


def build_prefill(
    call: StepCall, limits: Limits, outputs: Iterable[Output], steps: Iterable[str], values: Mapping[str, bytes]
) -> tuple[list[bytes], dict[str, str]]:
    """The tar that fills a step's volume (WV-1): its chunks, the values not copied, and the headers of the 200.

    ``steps`` are those that this one sees (WV-9); ``values``, by full key in lowercase, the newest accepted ones
    of each and the run's inputs, ``workflow.run-id``, ``workflow.inputs.repo`` (WV-8). Raises ``too_large`` past
    32 MiB or 65536 entries, ValueError for a step path or a key that cannot be there and for what is no UTF-8.
    """
    declared = [{name: value for name, value in asdict(one).items() if value is not None} for one in outputs]
    about = {"run": call.run, "step": call.step, "attempt": call.attempt, "limits": asdict(limits)}
    text = json.dumps({"version": 1, **about, "outputs": declared}, ensure_ascii=False, separators=(",", ":"))
    # Half a surrogate pair has no UTF-8; with a backslash it is JSON.
    step_file = text.encode("utf-8", "backslashreplace")
    seen = {_check(_STEP_PATH, step, "steps") for step in steps} - {call.step}
    homes = ("workflow.", *(f"{step}." for step in seen))
    for key in values:
        if not _KEY.fullmatch(key) or not key.startswith(homes):
            raise ValueError(f"{key[:100]!a}: not the key of an input or of a step that {call.step} sees")
    for key in _clashes(values):
        raise ValueError(f"{key}: a file and a folder of one spelling")
    paths = {key: _path_on_disk(key) for key in values}
    folders = [["workflow"], *(step.split(".") for step in seen), *(path[:-1] for path in paths.values())]
    names = {"/".join(path[:depth]) for path in folders for depth in range(1, len(path) + 1)}
    total, entries = len(step_file) + sum(map(len, values.values())), len(values) + len(names) + 1
    if total > MAX_PREFILL_BYTES or entries > MAX_PREFILL_ENTRIES:
        limit = f"the limits are {MAX_PREFILL_BYTES} and {MAX_PREFILL_ENTRIES}"
        raise Refusal("too_large", f"{call.step} would see {total} bytes in {entries} entries; {limit}")

    chunks = [_tar_header(name, tarfile.DIRTYPE, 0o555) for name in sorted(names)]
    files = [(".step", step_file), *(("/".join(paths[key]), values[key]) for key in sorted(values))]
    for name, content in files:
        if not _is_utf8(content):
            raise ValueError(f"{name}: not UTF-8")
        header = _tar_header(name, tarfile.REGTYPE, 0o444, len(content))
        chunks += [header, content, bytes(-len(content) % 512)]
    chunks.append(bytes(1024))
    sha256 = hashlib.sha256()
    for chunk in chunks:
        sha256.update(chunk)
    headers = {"Content-Type": "application/x-tar", "Content-Length": str(sum(map(len, chunks)))}
    return chunks, {**headers, "Content-Digest": _content_digest(sha256.digest())}


class Readable(Protocol):
    def read(self, size: int, /) -> bytes:
        """May give less than was asked for, and gives nothing at the end."""


@dataclass(frozen=True)
class Pack:
    """A pack that keeps every rule: ``pack.json`` without unknown fields, values by full key, and the body's
    SHA-256 in hex digits, which is its identity (WV-11).
    """

    manifest: Mapping[str, Any]
    values: Mapping[str, bytes]
    sha256: str


def read_pack(
    body: Readable, content_length: str | None, content_digest: str | None, call: StepCall, limits: Limits
) -> Pack:
    """Reads a pack and checks all of it (API, Pack) against the limits of its run.

    Raises ``length_required``, ``invalid_request``, ``too_large``, ``invalid_pack`` naming the field, or
    ``digest_mismatch``; EOFError where the body ends before its Content-Length: the sender is gone. Holds the
    values, at most ``max_step_bytes``, and ``pack.json``, whose 4 MiB may be forty times that when parsed.
    """
    if content_length is None:
        raise Refusal("length_required", "Content-Length is required")
    is_digest = re.fullmatch("sha-256=:[A-Za-z0-9+/]{43}=:", content_digest or "")
    if not is_digest or not re.fullmatch("[0-9]{1,15}", content_length):
        raise Refusal("invalid_request", "Content-Length must be a number, Content-Digest one sha-256")
    # Beyond its bytes a file costs up to 2 KiB: header, PAX header and record, padding.
    max_bytes = limits.max_step_bytes + MAX_MANIFEST_BYTES + 2048 * limits.max_step_files
    if int(content_length) > max_bytes:
        raise Refusal("too_large", f"the pack has {content_length} bytes; the limit is {max_bytes}")
    tar = _TarReader(body, int(content_length))
    manifest, values = _read_entries(tar, call, limits)
    if _content_digest(tar.sha256.digest()) != content_digest:
        raise Refusal("digest_mismatch", "the body does not match its Content-Digest")
    return Pack(manifest, values, tar.sha256.hexdigest())


def admit(
    call: StepCall, sha256: str | None, *, is_newest: bool, holder: str | None, accepted_sha256: str | None
) -> bool:
    """Whether a call may go on (WV-12), asked in the transaction that acts on the answer.

    ``sha256`` is the pack's, None for a prefill; ``holder`` the instance that has the attempt; ``is_newest``:
    no newer attempt was stamped. True: note the holder, store the pack. False: this very pack was accepted
    before, answer 200 and its receipt. Raises ``already_packed``, ``stale_attempt``, ``stale_instance``.
    """
    which = f"attempt {call.attempt} of {call.step}"
    if sha256 is not None and accepted_sha256 is not None and holder == call.instance:
        if sha256 == accepted_sha256:
            return False
        raise Refusal("already_packed", f"{which} has another body", accepted_sha256=accepted_sha256)
    if not is_newest:
        raise Refusal("stale_attempt", f"{which} is not the newest")
    if holder not in (None, call.instance):
        raise Refusal("stale_instance", f"{which} belongs to another instance")
    return True


def judge_pack(pack: Pack, outputs: Iterable[Output], missing_output: str = "warn") -> dict[str, Any]:
    """The receipt of an accepted pack (WV-10), to be stored and answered; the policy is ``warn`` or ``fail``.

    The step's own end stands first, then a limit that lost all values, then missing outputs.
    """
    manifest = pack.manifest
    required = (f"{manifest['step']}.{one.key}" for one in outputs if one.required)
    missing = [key for key in required if key not in pack.values]
    cause = _cause(manifest)
    if cause is None and missing and missing_output == "fail":
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        cause = "variables_missing_output", f"the declared output {missing[0]}{more} is missing"
    return {
        **{name: manifest[name] for name in ("run", "step", "attempt")},
        "sha256": pack.sha256,
        "accepted": len(pack.values),
        "warnings": [{"code": "variables_missing_output", "key": key} for key in missing],
        "status": "failed" if cause else "succeeded",
        "cause": {"code": cause[0], "message": cause[1]} if cause else None,
    }


_ENDINGS = {
    "lost": "the agent's container ended without a marker",
    "interrupted": "the pod was stopped before the agent was done",
    "deadline": "the deadline passed before the agent was done",
    "never_started": "the agent never started",
}


def _cause(manifest: Mapping[str, Any]) -> tuple[str, str] | None:
    by, marker = manifest["completion"]["by"], manifest["completion"]["marker"]
    if by != "marker":
        return by, _ENDINGS[by]
    if marker is None:
        return "marker_invalid", "the completion marker is not one the entrypoint writes"
    end = f"exit {marker['exit_code']}" if marker["signal"] is None else marker["signal"]
    if marker["outcome"] == "terminated":
        return "agent_terminated", f"the agent was terminated ({end})"
    if marker["outcome"] == "failed" or marker["exit_code"] != 0:
        return "agent_failed", f"the agent failed ({end})"
    for issue in manifest["rejected"]:
        if issue["code"] in _PACK_CODES:
            limit = f" of {issue['limit']}" if "limit" in issue else ""
            return issue["code"], f"the step left more than its limit{limit}; no value was accepted"
    return None


def _path_on_disk(key: str) -> list[str]:
    """Leaves are uppercase; files in ``workflow/`` are flat and lowercase (WV-1, WV-2)."""
    first, *rest = key.split(".")
    return [first, ".".join(rest)] if first == "workflow" else [first, *rest[:-1], rest[-1].upper()]


def _clashes(keys: Collection[str]) -> Iterator[str]:
    """Keys whose file cannot stand beside a folder of its name: no letter tells them apart (WV-2)."""
    folders = {key[: dot.start()] for key in keys for dot in re.finditer(r"\.", key)}
    return (key for key in keys if key in folders and not re.search("[a-z]", key.rpartition(".")[2]))


def _is_utf8(value: bytes) -> bool:
    try:
        return value.decode("utf-8") is not None
    except UnicodeDecodeError:
        return False


def _content_digest(sha256: bytes) -> str:
    return f"sha-256=:{base64.b64encode(sha256).decode('ascii')}:"


def _tar_header(name: str, kind: bytes, mode: int, size: int = 0) -> bytes:
    """No clock, host or owner (API, The tar format)."""
    info = tarfile.TarInfo(name)
    info.type, info.mode, info.size = kind, mode, size
    if len(name) > 99:
        # Else the header had a cut name, and the sidecar refuses a file whose name there ends in a slash.
        info.name, info.pax_headers = "PaxHeader", {"path": name}
    return info.tobuf(tarfile.PAX_FORMAT)


class _TarReader:
    """Plain files of a strict tar: hashed, counted, never read past the length that was announced."""

    def __init__(self, body: Readable, size: int) -> None:
        self._body, self._size, self._left = body, size, size
        self.sha256 = hashlib.sha256()

    def next_size(self, name: str | None) -> int | None:
        """Of the next file, which must have this name and not be there without; None at the end of all."""
        block = self._take(512)
        if not any(block):
            if any(self._take(512)) or self._left > 0:
                self._fail("something after the end blocks")
            return None
        found, size, kind = self._read_header(block)
        if kind == b"x":
            found = self._read_pax_path(size)
            _, size, kind = self._read_header(self._take(512))
        if kind != b"0":
            self._fail("an entry that is not a file")
        if name is None or found != name.encode("ascii"):
            self._fail("more entries than variables" if name is None else f"expected the entry {name}")
        return size

    def content(self, size: int) -> bytes:
        """Of the file that was found; the caller has found its size in bounds."""
        content = self._take(size)
        self._take(-size % 512)
        return content

    def _take(self, size: int) -> bytes:
        if size > self._left:
            self._fail("truncated: the two end blocks are missing")
        chunks: list[bytes] = []
        while size > 0:
            chunk = self._body.read(size)
            if not chunk:
                raise EOFError(f"the body ended {self._left} bytes short of its Content-Length")
            self.sha256.update(chunk)
            chunks.append(chunk)
            size -= len(chunk)
            self._left -= len(chunk)
        return b"".join(chunks)

    def _read_header(self, block: bytes) -> tuple[bytes, int, bytes]:
        """Name, size and type."""
        checksum = re.fullmatch(rb"([0-7]{1,7})[ \0]+", block[148:156])
        size = re.fullmatch(rb"([0-7]{1,11})[ \0]*", block[124:136])
        if block[257:263] != b"ustar\0" or checksum is None or size is None:
            self._fail("not a ustar header with its size in plain octal")
        if int(checksum[1], 8) != sum(block) - sum(block[148:156]) + 8 * 0x20:
            self._fail("a header whose checksum is wrong")
        name, prefix = block[:100].rstrip(b"\0"), block[345:500].rstrip(b"\0")
        # Old tars mark folders with a slash, and readers that know them parse the body as headers.
        if b"\0" in name + prefix or name.endswith(b"/"):
            self._fail("a file's name with a NUL inside or a slash at its end")
        return (prefix + b"/" + name if prefix else name), int(size[1], 8), block[156:157]

    def _read_pax_path(self, size: int) -> bytes:
        """Exactly one record, ``<length> path=<name>``, whose length is its own."""
        content = self.content(size) if 0 < size <= 4608 else b""
        record = re.fullmatch(rb"([1-9][0-9]{0,3}) path=([^\0\n]+)\n", content)
        if record is None or int(record[1]) != size:
            self._fail("a PAX header that is not one `path` record")
        return record[2]

    def _fail(self, problem: str) -> NoReturn:
        _refuse("tar", f"{problem} (near byte {self._size - self._left})")


def _read_entries(tar: _TarReader, call: StepCall, limits: Limits) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Nothing is read before what announces it was found in bounds."""
    size = tar.next_size("pack.json")
    if size is None or size > MAX_MANIFEST_BYTES:
        _refuse("pack.json", f"missing, or more than {MAX_MANIFEST_BYTES} bytes")
    manifest = _parse_manifest(tar.content(size), call)
    _check_variables(manifest, limits)
    values: dict[str, bytes] = {}
    for key, size in ((one["key"], one["size"]) for one in manifest["variables"]):
        if tar.next_size(f"values/{key}") != size:
            _refuse(key, "missing, or of another size than the announced one")
        values[key] = tar.content(size)
        if not _is_utf8(values[key]):
            _refuse(key, "not UTF-8")
    tar.next_size(None)
    return manifest, values


def _parse_manifest(content: bytes, call: StepCall) -> dict[str, Any]:
    try:
        # One kind of number, as in JavaScript: 1, 1.0 and 1e0 are the same. NaN, which is no JSON, is no int.
        untrusted = json.loads(content.decode("utf-8-sig"), parse_int=float, parse_constant=int)
    except (ValueError, RecursionError):
        _refuse("pack.json", "not JSON")
    try:
        manifest: dict[str, Any] = _check(_MANIFEST, untrusted, "pack.json ")
    except ValueError as error:
        raise Refusal("invalid_pack", str(error)) from None
    for name, expected in asdict(call).items():
        if manifest[name] != expected:
            _refuse(name, "not the one this call is for")
    return manifest


def _check_variables(manifest: Mapping[str, Any], limits: Limits) -> None:
    """Limits in their order: entries are the sidecar's alone to count; files before bytes."""
    variables = [(one["key"], one["size"]) for one in manifest["variables"]]
    previous = ""
    if len(variables) > limits.max_step_files:
        _refuse("variables", f"more than {limits.max_step_files} files")
    if variables and any(issue["code"] in _PACK_CODES for issue in manifest["rejected"]):
        _refuse("variables", "not empty although a limit of the whole pack was exceeded")
    for key, size in variables:
        if not _KEY.fullmatch(key) or not key.startswith(f"{manifest['step']}."):
            _refuse("variables", f"{json.dumps(key[:100])} is no key of this step")
        if key <= previous:
            _refuse("variables", f"{key} is out of order or twice")
        if size > limits.max_value_bytes:
            _refuse(key, f"{size} bytes; the limit is {limits.max_value_bytes}")
        previous = key
    total = sum(size for _, size in variables)
    if total > limits.max_step_bytes:
        _refuse("variables", f"{total} bytes; the limit is {limits.max_step_bytes}")
    for key in _clashes([key for key, _ in variables]):
        _refuse(key, "a file and a folder of one spelling")


def _refuse(field: str, problem: str) -> NoReturn:
    raise Refusal("invalid_pack", f"{field}: {problem}")


def _check(schema: Any, value: Any, place: str) -> Any:
    """The value without unknown fields; raises ValueError naming the place, not the value.

    A schema is a dict of fields, of which ``name?`` may be absent and None means no other; a list, of the kind
    of its items and how many; a tuple of texts, or of None and what else may be there; a range; a pattern.
    """
    if isinstance(schema, dict) and isinstance(value, dict):
        fields = {name.rstrip("?"): field for name, field in schema.items() if name is not None}
        for name in (name for name in fields if name in schema and name not in value):
            raise ValueError(f"{place}{name}: required")
        if None in schema and value.keys() - fields.keys():
            raise ValueError(f"{place.rstrip('. ')}: has an unknown field")
        there = [name for name in fields if name in value]
        return {name: _check(fields[name], value[name], f"{place}{name}.") for name in there}
    if isinstance(schema, list) and isinstance(value, list) and len(value) <= schema[1]:
        return [_check(schema[0], one, f"{place}{index}.") for index, one in enumerate(value)]
    if isinstance(schema, range) and isinstance(value, float) and value.is_integer() and int(value) in schema:
        return int(value)
    if isinstance(schema, tuple) and schema[0] is None:
        return None if value is None else _check(schema[1], value, place)
    if isinstance(schema, tuple) and isinstance(value, str) and value in schema:
        return value
    if isinstance(schema, re.Pattern) and isinstance(value, str) and schema.fullmatch(value):
        # Steps are looked up in any case.
        return value.lower() if schema is _STEP_PATH else value
    expected: dict[type, str] = {dict: "an object", list: "a list within its limit", tuple: "one of its words"}
    expected.update({range: "a whole number in its range", re.Pattern: "text of its form and length"})
    raise ValueError(f"{place.rstrip('. ')}: must be {expected[type(schema)]}")


_RESERVED = (
    "workflow|while|for|foreach|loop|until|do|repeat|if|else|elif|elseif|then|switch|case|default|when|break"
    "|continue|return|goto|yield|try|catch|except|finally|raise|throw|and|or|not|xor|in|is|true|false|null|none"
    "|nil|yes|no|on|off"
)
_LOOP = rf"(?!({_RESERVED})_[0-9]+\.)(?!.*_[0-9]+_[0-9]+\.)[a-z][a-z0-9_-]{{0,55}}_[1-9][0-9]{{0,5}}\."
_STEP = rf"(?!({_RESERVED})\Z)(?!.*_[0-9]+\Z)[a-z][a-z0-9_-]{{0,63}}"
# ASCII alone: U+212A and its kind lowercase into letters.
_STEP_PATH = re.compile(f"({_LOOP})?{_STEP}", re.ASCII | re.IGNORECASE)
_SEGMENT = "[a-z0-9][a-z0-9_-]{0,63}"
# Below `workflow` a key's rest is one file name.
_KEY = re.compile(rf"(?!workflow\..{{256}}){_SEGMENT}(\.{_SEGMENT}){{0,7}}")
_PRINTABLE = re.compile("[\x20-\x7e]{1,512}")
_SHORT = re.compile("(?s).{0,64}")
# RFC 3339, and whatever else the shipped control plane takes for it: a 31st in any month, and 24:00:00.
_INSTANT = re.compile(
    r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T"
    r"(([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?|24:00:00(\.0{1,9})?)"
    r"(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"
)
_PACK_CODES = ("step_entries_exceeded", "step_files_exceeded", "step_bytes_exceeded")
# fmt: off
_REJECT_CODES = (
    "invalid_output_key", "value_too_large", "invalid_output_value", "changed_while_reading", "unreadable",
)
_SKIP_CODES = (
    "skipped_symlink", "skipped_fifo", "skipped_socket", "skipped_device", "skipped_dotfile", "skipped_mount",
    "stray_at_root", "marker_invalid", "own_folder_missing",
)
# fmt: on
_FINALIZE = ("succeeded", "failed", "timed_out", "none")
_COUNT, _SIZE = range(1, 2**53), range(2**53)
_CALL = {
    "run": re.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,127}"),
    "step": _STEP_PATH,
    "attempt": range(1, 1_000_001),
    "instance": re.compile("[\x21-\x7e]{1,128}"),
}
_MARKER = {
    "version": range(1, 2),
    "outcome": ("succeeded", "failed", "terminated"),
    "exit_code": range(256),
    "signal": (None, re.compile("(?s).{0,16}")),
    "started_at": _INSTANT,
    "finished_at": _INSTANT,
    "finalize": {"status": _FINALIZE, "failed": [re.compile("(?s).{0,4096}"), 4096]},
    "kit": _SHORT,
}
_REJECTION = {"code": _REJECT_CODES + _PACK_CODES, "path": _PRINTABLE, "size?": _SIZE, "limit?": _SIZE}
_NO_OTHER: dict[Any, None] = {None: None}
_LIMITS = {**{name: _COUNT for name in asdict(Limits())}, "max_step_files": range(1, 4097), **_NO_OTHER}
_MANIFEST = {
    "version": range(1, 2),
    **_CALL,
    "completion": {"by": ("marker", *_ENDINGS), "marker": (None, _MARKER)},
    "limits": _LIMITS,
    "variables": [{"key": re.compile("(?s).*"), "size": _SIZE}, 4096],
    "rejected": [{**_REJECTION, "key?": re.compile("[\x20-\x7e]{0,1024}")}, 100],
    "skipped": [{"code": _SKIP_CODES, "path": _PRINTABLE}, 100],
    "more": {**{f"{code}?": _COUNT for code in _REJECT_CODES + _SKIP_CODES}, **_NO_OTHER},
    "sidecar": _SHORT,
}
