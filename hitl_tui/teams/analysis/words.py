"""The words of words.toml, by which questions and documents are read."""

from __future__ import annotations

import re
import tomllib
from importlib import resources
from typing import TYPE_CHECKING


class Words:
    """A table of words.toml: expressions by their names, and rows of a name and an expression.

    Args:
        table: what it is called.
    """

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> re.Pattern[str]: ...

    def __init__(self, table: str) -> None:
        text = resources.files("hitl_tui.teams.analysis").joinpath("words.toml").read_text(encoding="utf-8")
        self.rows: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
        for name, value in tomllib.loads(text)[table].items():
            if isinstance(value, str):
                self.__dict__[name] = re.compile(value, re.IGNORECASE)
            else:
                self.rows[name] = [(kind, re.compile(one, re.IGNORECASE)) for kind, one in value]
