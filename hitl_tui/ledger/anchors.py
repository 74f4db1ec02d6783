"""Anchors that are written by themselves to a place the operator names, where writers of the ledger can't change them.

`settings.toml` of the data folder names it: `[audit] anchors = "/path"`, a file, or a folder in which one is made.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from hitl_tui.core.errors import BadInput, ConfigError
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line
from hitl_tui.ledger.audit import Anchor
from hitl_tui.ledger.records import Head
from hitl_tui.ledger.signatures import Place

SETTINGS = "settings.toml"
IN_FOLDER = "hitl-tui.anchors"
_LARGEST = 1_000_000


class AnchorFile:
    """A file that heads are added to, one a line: the time, stream, number, hash, and the ledger they are of.

    Args:
        path: the file.
        ledger: the ledger.
    """

    def __init__(self, path: Path, ledger: Place) -> None:
        self.path = path
        self._ledger = ledger if isinstance(ledger, str) else str(ledger.resolve())

    def add(self, heads: Iterable[Head], now: str) -> None:
        """Add heads at the end.

        Raises:
            OSError: they can't be written.
        """
        lines = "".join(f"{now}\t{Anchor(h.stream, h.n, h.hash)}\t{self._ledger}\n" for h in heads)
        if not lines:
            return
        handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            os.write(handle, lines.encode())
        finally:
            os.close(handle)

    def anchors(self) -> Iterator[Anchor]:
        """Yield the anchors of this ledger, of each stream the last one of each number.

        Raises:
            BadInput: the file can't be read.
        """
        try:
            with self.path.open(encoding="utf-8", errors="replace") as file:
                for line in file:
                    parts = line.rstrip("\n").split("\t")
                    if len(parts) == 3 and parts[2] == self._ledger:
                        yield Anchor.parse(parts[1])
        except OSError as error:
            raise BadInput(Message("The anchors in {} can't be read: {}.", self.path, error.strerror)) from error


def anchor_file(folder: Path, ledger: Place) -> AnchorFile | None:
    """Return where a data folder's anchors go; None where its settings name no place.

    Raises:
        ConfigError: the settings can't be used; one sentence with file and line.
    """
    path = folder / SETTINGS
    try:
        content = path.read_bytes()[: _LARGEST + 1]
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(Message("{} can't be read: {}.", path, error.strerror)) from error
    import tomllib

    from hitl_tui.config.problems import key_places, place_of

    try:
        text = content.decode("utf-8-sig")
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        what = one_line(str(error), 160)
        raise ConfigError(Message("{} isn't valid TOML: {}.", SETTINGS, what)) from error
    audit = data.get("audit", {})
    named = audit.get("anchors", "") if isinstance(audit, dict) else ""
    line = place_of(key_places(text), ("audit", "anchors"))[0]
    if not isinstance(named, str) or (named and not Path(named).expanduser().is_absolute()):
        raise ConfigError(Message('{} line {}: "anchors" in [audit] must be an absolute path.', SETTINGS, line))
    if not named:
        return None
    place = Path(named).expanduser()
    place = place / IN_FOLDER if place.is_dir() else place
    if folder.resolve() in place.resolve().parents:
        raise ConfigError(Message('{} line {}: "anchors" in [audit] must lie outside the data folder.', SETTINGS, line))
    return AnchorFile(place, ledger)
