"""Flips bits in the files of a data folder, one at a time, and lets `show` and `sessions` say what they see.

Run as `flip_worker.py DATA SEED COUNT [PART…]`; only files whose names hold one of the parts. Prints as JSON what was
believed though it is wrong, or wasn't said in a sentence, and how many flips were found.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import shutil
import sys
from pathlib import Path
from typing import Any

from hitl_tui import cli
from hitl_tui.supervisor import session, session_copy, session_summary  # noqa: F401 - loaded once, for all children

UNSEEN = ("lock", "-shm", "-wal", ".log", ".staging", ".toml")
"""Not what a session is made of: locks, what SQLite makes anew, the stream of what was said, people's own files."""


def asked(data: Path, *command: str) -> tuple[int, str, str]:
    """Run a command in a child; return exit code, output and errors."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
        code: Any = 99
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = cli.main(["--data", str(data), *command])
            except SystemExit as ended:
                code = ended.code
        for stream in (out, err):
            stream.flush()
        texts = [stream.buffer.getvalue().decode() for stream in (out, err)]
        with os.fdopen(write, "w") as pipe:
            json.dump([code or 0, *texts], pipe)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        found = pipe.read()
    os.waitpid(pid, 0)
    code, said, wrong = json.loads(found) if found else (98, "", "died")
    return int(code), said, wrong


def commands(name: str) -> list[tuple[str, ...]]:
    return [("show", name, "--json"), ("sessions", "--json")]


def main(data: Path, seed: int, count: int, parts: list[str]) -> None:
    rng = random.Random(seed)
    copy = data.with_name("flipped")
    files = sorted(p for p in data.rglob("*") if p.is_file() and p.stat().st_size and not p.name.endswith(UNSEEN))
    files = [p for p in files if "sessions" in p.parts or p.parent == data]
    files = [p for p in files if not parts or any(part in p.name for part in parts)]
    name = "s1"
    shutil.rmtree(copy, ignore_errors=True)
    for command in commands(name):  # that a question was shown is recorded, once
        asked(data, *command)
    shutil.copytree(data, copy, symlinks=True)
    expected = {command: asked(copy, *command) for command in commands(name)}
    assert expected == {command: asked(copy, *command) for command in commands(name)}
    wrong, found = [], 0
    for number in range(count):
        file = files[number % len(files)]
        place, bit = rng.randrange(file.stat().st_size), rng.randrange(8)
        shutil.rmtree(copy)
        shutil.copytree(data, copy, symlinks=True)
        target = copy / file.relative_to(data)
        raw = bytearray(target.read_bytes())
        raw[place] ^= 1 << bit
        target.write_bytes(raw)
        for command in commands(name):
            code, out, err = asked(copy, *command)
            plain = expected[command]
            if (code, out) == plain[:2]:
                continue
            found += 1
            text = f"{out} {err}"
            if command[0] == "sessions" and '"unreadable"' in out:  # the list says so, and shows the others
                continue
            if code in (0, 3, 98, 99) or "Unexpected error" in text or "Traceback" in text or not text.strip():
                wrong.append([str(file.relative_to(data)), place, bit, command[0], code, text[:300]])
    print(json.dumps({"wrong": wrong, "found": found}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
