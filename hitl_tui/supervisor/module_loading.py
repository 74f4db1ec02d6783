"""Loading many modules at once, without a search for garbage and without a signal in between."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from hitl_tui.supervisor.termination import Termination


@contextmanager
def importing() -> Iterator[None]:
    """Load modules within a block without a search for garbage: they make hundreds of thousands of objects and none.

    What they made is left out of every later search, too. A signal waits until they are loaded.
    """
    before = len(sys.modules)
    gc.disable()
    try:
        with Termination.current().noting():
            yield
    finally:
        if len(sys.modules) > before:
            gc.freeze()
        gc.enable()
