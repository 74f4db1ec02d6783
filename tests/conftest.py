"""Tests speak English, whatever the locale of who runs them, and long ones have long to do it."""

import os
import signal
import sys
import tempfile
from collections import defaultdict

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
