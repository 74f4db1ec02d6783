"""Descriptors 1 and 2 are kept apart from the screen, and put back to exactly what they were."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import os, subprocess, sys, threading
from hitl_tui.terminal.stdio_redirect import StdioRedirect

def what():
    return [(os.fstat(n).st_dev, os.fstat(n).st_ino) for n in (1, 2)]

heard, ended = [], threading.Event()
def hear(lines):
    heard.extend(lines)
    if lines[-1] == "end":
        ended.set()

before, free = what(), os.dup(0)
apart = StdioRedirect(hear)
print("first, kept back by Python")
apart.begin()
apart.begin()
assert what() != before
print("said by Python")
sys.stdout.flush()
late = subprocess.Popen(["sh", "-c", "printf half >&2; read go; echo; echo late >&2"], stdin=subprocess.PIPE)
apart.end()
apart.end()
assert what() == before
print("to the terminal")
apart.begin()
subprocess.run(["seq", "1", "100000"])
apart.end()
late.communicate(b"go\\n")
apart.begin()
os.write(2, b"end")
apart.end()
assert ended.wait(30)
assert os.dup(0) <= free + 5, "no descriptor is left over, but the pipe's"
for word in ("said by Python", "late", "2", "100000"):
    assert word in heard, word
assert any("half" in line for line in heard)  # it may come amid a line of the other program
assert len(heard) < 20_000, len(heard)
print("last")
"""


def test_what_is_written_meanwhile_is_heard_and_the_rest_goes_where_it_went() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "first, kept back by Python\nto the terminal\nlast\n"
