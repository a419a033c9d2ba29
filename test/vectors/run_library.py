"""Runs the calls of many vectors in one Python, each with its own environment, and prints what came of them.

Reads and writes JSON: ``[{"env": {…}, "load" | "save" | "keys": […]}, …]`` in, ``[{"result": …} | {"code": …, "message":
…, "key": …, "size": …, "limit": …}, …]`` out.
"""

import json
import os
import sys

from variables import VariablesError, keys, load, save

CALLS = {
    "load": lambda key, *default: load(key, default=default[0]) if default else load(key),
    "save": save,
    "keys": lambda *prefix: keys(prefix=prefix[0]) if prefix else keys(),
}
VARIABLES = ("WORKFLOW_VARIABLES_ROOT", "WORKFLOW_VARIABLES_SELF")


def run(vector):
    for name in VARIABLES:
        os.environ.pop(name, None)
    os.environ.update(vector["env"])
    name = next(name for name in CALLS if name in vector)
    try:
        return {"result": CALLS[name](*vector[name])}
    except VariablesError as error:
        details = {name: getattr(error, name) for name in ("code", "key", "size", "limit")}
        return {**details, "message": str(error)}


json.dump([run(vector) for vector in json.load(sys.stdin)], sys.stdout)
