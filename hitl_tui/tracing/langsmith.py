"""LangSmith, which LangChain traces to by itself where the environment says so: it holds up no end of the program."""

from __future__ import annotations

import sys
from collections.abc import MutableMapping

_TRACING = ("LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2", "LANGCHAIN_TRACING")
PATIENCE = 2.0
"""Seconds that the end of the program waits for traces to arrive."""


def let_go_at_exit(environ: MutableMapping[str, str]) -> None:
    """Let the threads that send traces end with the program; what is set already stays as it is."""
    if any(environ.get(name, "").strip().lower() == "true" for name in _TRACING):
        environ.setdefault("LANGSMITH_USE_DAEMON", "true")
        environ.setdefault("LANGSMITH_DISABLE_RUN_COMPRESSION", "true")  # compressed ones are sent by other threads


def flush_traces() -> None:
    """Wait until traces have arrived or can't; never longer than `PATIENCE`."""
    run_trees = sys.modules.get("langsmith.run_trees")
    client = getattr(run_trees, "_CLIENT", None)
    if client is not None:
        client.flush(timeout=PATIENCE)
