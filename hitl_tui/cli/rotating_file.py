"""The log's handler: its file is made at the first record, is kept small and never fails."""

from __future__ import annotations

import logging
from collections.abc import Callable
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from hitl_tui.config.atomic_files import make_private

_LARGEST = 1_000_000
_KEPT = 2


class RotatingFile(RotatingFileHandler):
    """A rotating file; what can't be logged is dropped.

    Args:
        path: the file; its folder is made with it.
        mask: takes secrets out of a line.
    """

    def __init__(self, path: Path, mask: Callable[[str], str]) -> None:
        super().__init__(path, maxBytes=_LARGEST, backupCount=_KEPT, encoding="utf-8", delay=True)
        self.errors = "backslashreplace"
        self._mask = mask
        self.setFormatter(logging.Formatter("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"))

    def _open(self) -> TextIOWrapper:
        make_private(Path(self.baseFilename).parent)
        return super()._open()

    def format(self, record: logging.LogRecord) -> str:
        return self._mask(super().format(record))

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the library's name
        """Drop it: a log that can't be written (a full disk) must not print a traceback over the work."""
