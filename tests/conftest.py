"""Tests speak English, whatever the locale of who runs them, and long ones have long to do it."""

import gc
import os
import signal
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says how busy the machine is.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

for variable in ("LC_ALL", "LC_MESSAGES", "LANG"):
    if os.environ.get(variable, "").lower().startswith("ko"):
        os.environ[variable] = "C.UTF-8"

# Whether `uv run` started the tests says nothing of how a person starts the program.
os.environ.pop("UV_RUN_RECURSION_DEPTH", None)

# What hundreds of processes import is compiled once, also where the image says that nothing is kept compiled.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A suite that runs in the background ignores these, and so would all that it starts.
for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)

# What tests write is gone after them: it needs no disk, for which every durable write would wait.
MEMORY, ENOUGH = Path("/dev/shm"), 4 << 30
"""Where files are kept in memory, and how many bytes must be free there."""


def memory_serves() -> bool:
    """Return whether files of tests can be kept in memory: there is room, and programs can be started there."""
    if not MEMORY.is_dir() or not os.access(MEMORY, os.W_OK):
        return False
    room = os.statvfs(MEMORY)
    return room.f_bavail * room.f_frsize >= ENOUGH and not room.f_flag & os.ST_NOEXEC


if "PYTEST_DEBUG_TEMPROOT" not in os.environ and memory_serves():
    os.environ["PYTEST_DEBUG_TEMPROOT"] = str(MEMORY)

# The key that signs records lies with a person's settings: tests have their own.
os.environ["XDG_CONFIG_HOME"] = tempfile.mkdtemp(prefix="hitl-tui-tests-")
os.environ.pop("HITL_AUDIT_KEY", None)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave what isn't sampled to the slow suite, and give tests that start many processes time for it."""
    variants = defaultdict(list)
    for item in items:
        if sampled := item.get_closest_marker("sampled"):
            variants[item.nodeid.partition("[")[0], sampled.args[0]].append(item)
    for (_, count), found in variants.items():
        kept = {number * len(found) // count for number in range(count)}
        for number, item in enumerate(found):
            if number not in kept:
                item.add_marker(pytest.mark.slow)
    for item in items:
        if item.get_closest_marker("long") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(400))


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what was imported and collected: it stays to the end."""
    gc.collect()
    gc.freeze()
