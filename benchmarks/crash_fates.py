"""The command of the drawn crash sequences: starts, acts on the world, then ends as it is told.

Run as `python crash_fates.py SOCKET TODO EFFECT FATES PID`; the fates of its starts, in turn, are `ok`, `fail` (it has
acted and says that it failed) and `hang` (it goes on until it is ended, or the process whose id is in the file PID is).
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import time
from pathlib import Path


def main() -> int:
    path, todo, effect, fates, pid_file = sys.argv[1:6]
    owner = int(Path(pid_file).read_text(encoding="utf-8"))
    with socket.socket(socket.AF_UNIX) as world, world.makefile("r") as answers:
        world.connect(path)

        def tell(op: str, **more: object) -> dict[str, int]:
            world.sendall(json.dumps({"op": op, "todo": todo, "effect": effect, **more}).encode() + b"\n")
            line = answers.readline()
            if not line:
                sys.exit(1)
            answer: dict[str, int] = json.loads(line)
            return answer

        number = tell("begin")["count"]
        tell("act")
        with contextlib.suppress(OSError):  # the reader was killed; the work goes on
            os.write(1, b"acted\n")
        fate = fate_of(fates.split(","), number)
        if fate == "hang":
            while _is_alive(owner):
                time.sleep(0.02)
        tell("failed" if fate == "fail" else "done")
    return 3 if fate == "fail" else 0


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def fate_of(fates: list[str], number: int) -> str:
    """Return how the start of a number ends: those that nothing is said of end well."""
    return fates[number - 1] if number <= len(fates) else "ok"


if __name__ == "__main__":
    sys.exit(main())
