"""``wfvar`` in Python: ``python3 -m variables``; for the launcher, ``python3 -ISE
KIT/variables/__main__.py``.

Isolated, Python looks at nothing of the agent's environment, nor at its site-packages.
"""

import os
import sys

if sys.version_info < (3, 8):
    # Before anything is imported that an older Python cannot read: it would exit with 1, "not found".
    sys.stderr.write(
        "wfvar: io_error: this Python is older than 3.8: put a newer python3 or a node on PATH\n"
    )
    sys.exit(5)

if not __package__:
    # Run as a file.
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), os.pardir))

from variables.cli import run_cli
from variables.process_io import ProcessIo, open_missing_streams


def main() -> int:
    open_missing_streams()
    # As the bytes that they were, whatever the locale made of them.
    argv = [os.fsencode(word).decode("utf-8", "surrogateescape") for word in sys.argv[1:]]
    return run_cli(argv, ProcessIo(os.environ))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        # A shell goes on after a command that only exited, and stops after one that an interrupt killed.
        import signal

        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
