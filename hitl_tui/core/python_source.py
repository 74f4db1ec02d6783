"""Parsing Python in several threads at once."""

from __future__ import annotations

import ast
import threading
import warnings

_ONE_AT_A_TIME = threading.Lock()
_TRIES = 5


def parse_source(source: str | bytes) -> ast.Module:
    """Return the tree of a file of Python, from any thread; what the compiler warns of is left out.

    CPython 3.11 counts how deep it is in a tree for all threads together, and fails with a SystemError where two were
    at it. Ours take turns; one that met a parse of somebody else is done again. Filters of warnings are shared, too.

    Raises:
        SyntaxError, ValueError: it isn't Python. RecursionError, MemoryError: it is nested too deeply.
    """
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(_TRIES - 1):
            try:
                return ast.parse(source)
            except SystemError:
                continue
        return ast.parse(source)
