"""The log: where a traceback goes that nobody should have to read."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from hitl_tui.cli.secrecy import Secrecy
from hitl_tui.config.atomic_files import make_private

FILE_NAME = "hitl-tui.log"


class LogFile(logging.Handler):
    """A rotating file in the data folder; what can't be logged is dropped.

    Nothing is loaded for it before there is something to log.

    Args:
        data: the data folder.
        secrecy: what is masked in all that is logged.
    """

    def __init__(self, data: Path, secrecy: Secrecy) -> None:
        super().__init__()
        self.path = data / FILE_NAME
        self._secrecy = secrecy

    @cached_property
    def _file(self) -> RotatingFile:
        from hitl_tui.cli.log_file import RotatingFile

        return RotatingFile(self.path, self._secrecy.mask_log)

    def hide(self, secrets: Mapping[str, str]) -> None:
        """Mask these values, by name, in everything logged and printed from now on."""
        self._secrecy.hide(secrets)

    def emit(self, record: logging.LogRecord) -> None:
        self._file.handle(record)

    def close(self) -> None:
        if "_file" in self.__dict__:
            with suppress(OSError):  # on a full disk what was kept back can't be written; it ends without a traceback
                self._file.close()
        super().close()


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
