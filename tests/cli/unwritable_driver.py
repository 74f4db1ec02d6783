"""Carries command lines out where a folder can't be written, and prints what came of each as JSON.

`python unwritable_driver.py LINES`, where LINES is JSON: a list of argument lists.
"""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout

from hitl_tui.cli import main


def carried_out(arguments: list[str]) -> dict[str, str | int]:
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        code = main(arguments)
    return {"code": code, "out": out.getvalue(), "err": err.getvalue()}


if __name__ == "__main__":
    print(json.dumps([carried_out(arguments) for arguments in json.loads(sys.argv[1])]))
