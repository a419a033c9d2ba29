"""A control plane in one file: the two step calls with http.server, sqlite3 and wfvar_cp.py.

    python3 server.py serve                     answers the step calls
    python3 server.py stamp judge               makes a run with one step, and prints what its pod needs
    python3 server.py stamp report --run ID     one more step of that run; --depends-on STEP shows it STEP's
    python3 server.py get ID judge.verdict      prints a value
    python3 server.py fixture                   stamps what the conformance suite asks for

wfvar_cp.py has to lie beside it. This shows where that stands between a server and a database, and what has to
happen in one transaction. It leaves out what you have already, or need before this serves anyone: TLS (put a
proxy in front), tokens that expire, a lease on an attempt whose pod vanished, a bound on how long a whole
request may take, and cleaning up.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import re
import secrets
import sqlite3
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Iterator, Mapping
from urllib.parse import parse_qs, unquote

from wfvar_cp import Limits, Output, Readable, Refusal, StepCall
from wfvar_cp import admit, build_prefill, judge_pack, read_pack

SCHEMA = """
CREATE TABLE IF NOT EXISTS steps (
  run TEXT, step TEXT, attempt INTEGER, token_sha256 TEXT UNIQUE, depends_on TEXT, outputs TEXT,
  holder TEXT, sha256 TEXT, receipt TEXT, PRIMARY KEY (run, step, attempt));
CREATE TABLE IF NOT EXISTS variables (
  run TEXT, step TEXT, attempt INTEGER, key TEXT, value BLOB, PRIMARY KEY (run, step, attempt, key));
"""
LIMITS = Limits()
"""Of every run here. The sidecar is told the same (WV-5)."""
MAX_DRAINED_BYTES = 32 * 1024**2
# Each may hold a step's limit in memory. A sidecar that finds no room tries again.
ROOM_FOR_PACKS = threading.BoundedSemaphore(4)


@contextlib.contextmanager
def transaction(path: str) -> Iterator[sqlite3.Connection]:
    """Committed and on disk when it is left, or rolled back."""
    db = sqlite3.connect(path, timeout=20, isolation_level=None)
    db.row_factory = sqlite3.Row
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")
    finally:
        db.close()


def stamp(path: str, run: str, step: str, depends_on: list[str], outputs: list[str]) -> dict[str, Any]:
    """One more attempt of a step, with the token that opens its two calls; only its hash is kept."""
    token = secrets.token_urlsafe(32)
    step, *depends_on = [StepCall.parse(run, one, "1", "none").step for one in (step, *depends_on)]
    with transaction(path) as db:
        attempt = newest_attempt(db, run, step) + 1
        hashed = hashlib.sha256(token.encode()).hexdigest()
        row = (run, step, attempt, hashed, json.dumps(depends_on), json.dumps(outputs))
        db.execute("INSERT INTO steps VALUES (?, ?, ?, ?, ?, ?, NULL, NULL, NULL)", row)
        inputs = {"workflow.run-id": run, "workflow.template": "example"}
        rows = [(run, "workflow", 0, key, value.encode()) for key, value in inputs.items()]
        db.executemany("INSERT OR IGNORE INTO variables VALUES (?, ?, ?, ?, ?)", rows)
    return {"run": run, "step": step, "attempt": attempt, "token": token}


def newest_attempt(db: sqlite3.Connection, run: str, step: str) -> int:
    row = db.execute("SELECT MAX(attempt) FROM steps WHERE run = ? AND step = ?", (run, step)).fetchone()
    return row[0] or 0


def authorize(path: str, call: StepCall, header: str) -> None:
    """The token must be for exactly the attempt that the call names."""
    token = header[len("Bearer ") :] if header.startswith("Bearer ") else ""
    hashed = hashlib.sha256(token.encode("latin-1")).hexdigest()
    with transaction(path) as db:
        row = db.execute("SELECT * FROM steps WHERE token_sha256 = ?", (hashed,)).fetchone()
    if row is None:
        raise Refusal("unauthorized", "a valid step token is required")
    if (row["run"], row["step"], row["attempt"]) != (call.run, call.step, call.attempt):
        raise Refusal("forbidden", "the token is for another step or attempt")


def claim(db: sqlite3.Connection, call: StepCall, sha256: str | None) -> tuple[sqlite3.Row, bool]:
    """The attempt, claimed for the calling pod, and whether the call may go on (WV-12)."""
    where = (call.run, call.step, call.attempt)
    row = db.execute("SELECT * FROM steps WHERE run = ? AND step = ? AND attempt = ?", where).fetchone()
    is_newest = newest_attempt(db, call.run, call.step) == call.attempt
    state = {"is_newest": is_newest, "holder": row["holder"], "accepted_sha256": row["sha256"]}
    goes_on = admit(call, sha256, **state)
    if goes_on:
        set_holder = "UPDATE steps SET holder = ? WHERE run = ? AND step = ? AND attempt = ?"
        db.execute(set_holder, (call.instance, *where))
    return row, goes_on


def outputs_of(row: sqlite3.Row) -> list[Output]:
    return [Output(key) for key in json.loads(row["outputs"])]


def visible_steps(db: sqlite3.Connection, row: sqlite3.Row) -> list[str]:
    """Direct dependencies, and in a loop every step of every earlier iteration (WV-9)."""
    visible: list[str] = json.loads(row["depends_on"])
    loop = re.compile(r"(.+)_([0-9]+)\..+")
    own = loop.fullmatch(row["step"])
    for (step,) in db.execute("SELECT DISTINCT step FROM steps WHERE run = ?", (row["run"],)):
        other = loop.fullmatch(step)
        if own and other and other[1] == own[1] and int(other[2]) < int(own[2]):
            visible.append(step)
    return visible


def values_of(db: sqlite3.Connection, run: str, steps: list[str]) -> dict[str, bytes]:
    """The run's inputs, and of each step the values of its newest accepted attempt."""
    rows = db.execute(
        """SELECT key, value FROM variables AS v WHERE run = ?1 AND (step = 'workflow'
             OR step IN (SELECT value FROM json_each(?2)) AND attempt = (SELECT MAX(attempt) FROM steps AS s
               WHERE s.run = ?1 AND s.step = v.step AND s.sha256 IS NOT NULL))""",
        (run, json.dumps(steps)),
    )
    return {key: bytes(value) for key, value in rows}


def prefill(path: str, call: StepCall) -> tuple[list[bytes], dict[str, str]]:
    with transaction(path) as db:
        row, _ = claim(db, call, None)
        steps = visible_steps(db, row)
        values = values_of(db, call.run, steps)
    return build_prefill(call, LIMITS, outputs_of(row), steps, values)


def accept_pack(
    path: str, call: StepCall, body: Readable, length: str | None, digest: str | None
) -> tuple[int, dict[str, Any]]:
    """Status and receipt. Values, receipt and digest are stored together or not at all."""
    pack = read_pack(body, length, digest, call, LIMITS)
    with transaction(path) as db:
        row, goes_on = claim(db, call, pack.sha256)
        if not goes_on:
            return 200, json.loads(row["receipt"])
        receipt = judge_pack(pack, outputs_of(row))
        where = (call.run, call.step, call.attempt)
        rows = [(*where, key, value) for key, value in pack.values.items()]
        db.executemany("INSERT INTO variables VALUES (?, ?, ?, ?, ?)", rows)
        accepted = "UPDATE steps SET sha256 = ?, receipt = ? WHERE run = ? AND step = ? AND attempt = ?"
        db.execute(accepted, (pack.sha256, json.dumps(receipt), *where))
    return 201, receipt


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # For each read of the socket: a sender that stalls is cut off.
    timeout = 30
    database = "cp.db"

    def do_GET(self) -> None:
        self.answer("variables", self.send_prefill)

    def do_PUT(self) -> None:
        self.answer("pack", self.take_pack)

    def answer(self, name: str, handle: Callable[[StepCall], None]) -> None:
        # A body that was not read to its end is the start of no request.
        self.close_connection = True
        try:
            call = self.read_call(name)
            authorize(self.database, call, self.headers.get("Authorization", ""))
            handle(call)
        except Refusal as refusal:
            self.refuse(refusal)
        except sqlite3.OperationalError:
            traceback.print_exc()
            self.refuse(Refusal("unavailable", "the store does not answer"))
        except (EOFError, OSError):
            return  # The other side is gone.
        except Exception:
            traceback.print_exc()
            self.refuse(Refusal("internal_error", "the control plane failed; its log says why"))

    def read_call(self, name: str) -> StepCall:
        path, _, query = self.path.partition("?")
        parts = re.fullmatch(f"/v1/runs/([^/]+)/steps/([^/]+)/{name}", path)
        if parts is None:
            raise Refusal("not_found", "no such call")
        attempt = ",".join(parse_qs(query).get("attempt", []))
        run, step = (unquote(part) for part in parts.groups())
        return StepCall.parse(run, step, attempt, self.headers.get("Wfvar-Instance"))

    def send_prefill(self, call: StepCall) -> None:
        chunks, headers = prefill(self.database, call)
        self.send_response(200)
        for name, value in {**headers, "Connection": "close"}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.writelines(chunks)

    def take_pack(self, call: StepCall) -> None:
        if self.headers.get_content_type() != "application/x-tar":
            raise Refusal("invalid_request", "the body must be application/x-tar")
        if not ROOM_FOR_PACKS.acquire(blocking=False):
            raise Refusal("unavailable", "other packs are being read")
        try:
            digest = self.headers.get("Content-Digest")
            status, receipt = accept_pack(self.database, call, self.rfile, self.length(), digest)
        finally:
            ROOM_FOR_PACKS.release()
        print(f"{call.run} {call.step} {call.attempt}: {receipt['status']}", flush=True)
        self.send_json(status, "application/json", receipt)

    def length(self) -> str | None:
        """None where the body's end is not told by one Content-Length alone."""
        lengths = self.headers.get_all("Content-Length", [])
        return lengths[0] if len(lengths) == 1 and "Transfer-Encoding" not in self.headers else None

    def refuse(self, refusal: Refusal) -> None:
        with contextlib.suppress(OSError):
            self.send_json(refusal.status, "application/problem+json", refusal.problem())
            self.drain()

    def drain(self) -> None:
        """Reads what is left of a refused body: closing over unread bytes would reset the connection, and the
        answer with it.
        """
        left = MAX_DRAINED_BYTES
        self.connection.settimeout(2)
        while left > 0:
            chunk = self.rfile.read1(min(left, 65_536))
            if not chunk:
                return
            left -= len(chunk)

    def send_json(self, status: int, media_type: str, document: Any) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        if status == 503:
            self.send_header("Retry-After", "1")
        self.end_headers()
        self.wfile.write(body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """For what http.server itself refuses: another method, or what is no HTTP."""
        # Else an answer to a line that it could not read would have no head.
        self.request_version = self.protocol_version
        no_call = Refusal("not_found", "no such call")
        self.refuse(no_call if code == 501 else Refusal("invalid_request", "not an HTTP request of this API"))

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: a request line is the sender's text."""


def stamp_for_suite(path: str, env: Mapping[str, str]) -> dict[str, Any]:
    """The step attempt that `wfvar-cp conformance` asks for in its fixture's environment."""
    run = env.get("WFVAR_FIXTURE_RUN") or new_run()
    step = env.get("WFVAR_FIXTURE_STEP", "")
    kind = env.get("WFVAR_FIXTURE_KIND", "step")
    if kind == "next":
        return stamp(path, run, "summary" if step == "report" else "report", [step], [])
    if kind == "retry":
        return stamp(path, run, step, [], [])
    if kind == "loop":
        return stamp(path, run, "review_1.judge", [], [])
    if kind == "iterate":
        loop, _, iteration = step.partition(".")[0].rpartition("_")
        return stamp(path, run, f"{loop}_{int(iteration) + 1}.judge", [], [])
    with_output = {**stamp(path, run, "judge", [], ["verdict"]), "outputs": [{"key": "verdict"}]}
    visible = {"workflow.run-id": hashlib.sha256(run.encode()).hexdigest()}
    return {**with_output, "visible": visible}


def new_run() -> str:
    return f"run-{secrets.token_hex(8)}"


def serve(path: str, listen: str) -> None:
    host, _, port = listen.rpartition(":")
    server = ThreadingHTTPServer((host, int(port)), type("DatabaseHandler", (Handler,), {"database": path}))
    print(f"step calls http://{host}:{server.server_port}", flush=True)
    server.serve_forever()


def get(path: str, run: str, key: str) -> bytes:
    with transaction(path) as db:
        steps = [step for (step,) in db.execute("SELECT DISTINCT step FROM steps WHERE run = ?", (run,))]
        found = values_of(db, run, steps).get(key.lower())
    if found is None:
        raise Refusal("not_found", "no such run or variable")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="A control plane in one file, as an example.")
    parser.add_argument("--db", default="cp.db", metavar="FILE", help="the SQLite database (cp.db)")
    commands = parser.add_subparsers(dest="command", required=True)
    serving = commands.add_parser("serve", help="answer the step calls")
    serving.add_argument("--listen", default="127.0.0.1:8411", metavar="HOST:PORT")
    stamping = commands.add_parser("stamp", help="make a step attempt and print what its pod needs, as JSON")
    stamping.add_argument("step", metavar="STEP")
    stamping.add_argument("--run", metavar="ID", help="of a run that exists; a new one where absent")
    stamping.add_argument("--depends-on", action="append", default=[], metavar="STEP")
    stamping.add_argument("--output", action="append", default=[], metavar="KEY")
    fixture = commands.add_parser("fixture", help="stamp what the conformance suite asks for")
    for each in (stamping, fixture):
        each.add_argument("--url", default="http://127.0.0.1:8411", help="where the step calls are served")
    getting = commands.add_parser("get", help="print a value")
    getting.add_argument("run", metavar="ID")
    getting.add_argument("key", metavar="KEY")
    given = parser.parse_args()
    with contextlib.closing(sqlite3.connect(given.db)) as db:
        db.executescript(SCHEMA)
    try:
        if given.command == "serve":
            serve(given.db, given.listen)
        elif given.command == "stamp":
            run = given.run or new_run()
            step = stamp(given.db, run, given.step, given.depends_on, given.output)
            print(json.dumps({"url": given.url, **step}))
        elif given.command == "fixture":
            print(json.dumps({"url": given.url, **stamp_for_suite(given.db, os.environ)}))
        else:
            sys.stdout.buffer.write(get(given.db, given.run, given.key))
    except Refusal as refusal:
        sys.exit(f"server.py: {refusal.detail}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
