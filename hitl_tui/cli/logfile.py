"""The log: where a traceback goes that nobody should have to read."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from hitl_tui.core.safe_text import mask

FILE_NAME = "hitl-tui.log"
_LARGEST = 1_000_000
_KEPT = 2


class LogFile(RotatingFileHandler):
    """A rotating file in the data folder; what can't be logged is dropped.

    Args:
        data: the data folder.
    """

    def __init__(self, data: Path) -> None:
        super().__init__(data / FILE_NAME, maxBytes=_LARGEST, backupCount=_KEPT, encoding="utf-8", delay=True)
        self.errors = "backslashreplace"
        self._secrets: dict[str, str] = {}
        self.setFormatter(logging.Formatter("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"))

    @property
    def path(self) -> Path:
        return Path(self.baseFilename)

    def hide(self, secrets: Mapping[str, str]) -> None:
        """Mask these values, by name, in everything logged from now on."""
        self._secrets.update(secrets)

    def _open(self) -> TextIOWrapper:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return super()._open()

    def format(self, record: logging.LogRecord) -> str:
        return mask(super().format(record), self._secrets)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the library's name
        """Drop it: a log that can't be written (a full disk) must not print a traceback over the work."""
