"""The log file, which tracebacks go to."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from hitl_tui.policy.secrecy import Secrecy

if TYPE_CHECKING:
    from hitl_tui.cli.rotating_file import RotatingFile

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
        from hitl_tui.cli.rotating_file import RotatingFile

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
