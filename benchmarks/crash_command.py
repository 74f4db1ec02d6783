"""The declared command of the crash benchmark: acts on the world once, then lingers until the world lets it end.

Run as `python crash_command.py SOCKET TODO EFFECT`. It outlives its parent, as a real command would.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys


def main() -> int:
    path, todo, effect = sys.argv[1:4]
    with socket.socket(socket.AF_UNIX) as world, world.makefile("r") as answers:
        world.connect(path)
        message = {"op": "act", "todo": todo, "effect": effect, "lingers": True}
        world.sendall(json.dumps(message).encode() + b"\n")
        if not answers.readline():
            return 1
        with contextlib.suppress(OSError):  # the reader was killed; the work goes on
            os.write(1, b"acted\n")
        answers.readline()
    return 0


if __name__ == "__main__":
    sys.exit(main())
