"""Masking of declared secrets: in what the command line prints and logs, and in what is recorded of tasks."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from hitl_tui.core.json_types import Json, JsonObject
from hitl_tui.core.safe_text import SHORTEST_SECRET, mask, mask_json
from hitl_tui.core.secret_names import named_in

FILE_NAME = "hitl.toml"
_LARGEST = 1_000_000


class Secrecy:
    """The secrets that are known, and where to look for more once something would be written that may hold one.

    What a session declares is told by `hide`. A message from before there is one (no such folder, no such session)
    may repeat what was typed, so the folders it is about are looked at as well; a folder that nobody trusts declares
    nothing.
    """

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._places: tuple[Path, ...] = ()
        self._declared: dict[Path, dict[str, str]] = {}
        self._data = Path()
        self._once: tuple[str, ...] = ()

    @property
    def known(self) -> Mapping[str, str]:
        """The secrets that are known by now, by name."""
        return self._known

    def hide(self, secrets: Mapping[str, str]) -> None:
        """Mask these values, by name, from now on."""
        self._known.update(secrets)

    def look_in(self, folders: Sequence[Path], data: Path, once: tuple[str, ...] = ()) -> None:
        """Mask what these folders declare.

        Args:
            folders: workspaces; they needn't be there.
            data: the data folder, which knows what is trusted.
            once: digests that are trusted for this call.
        """
        self._places, self._data, self._once = tuple(dict.fromkeys(folders)), data, once

    def mask(self, text: str) -> str:
        """Return a text with the names of secrets instead of their values."""
        self._learn(text)
        return _hidden(text, self._known) if self._known else text

    def hidden(self, value: Json) -> Json:
        """Return a JSON value with the names of secrets in all its texts."""
        self._learn(json.dumps(value, ensure_ascii=False))
        return mask_json(value, self._known) if self._known else value

    def held(self, text: str) -> str:
        """Return the name of a secret that a text holds; empty for none."""
        masked = self.mask(text)
        return min(named_in(masked, self._known), default="") if masked != text else ""

    def mask_log(self, text: str) -> str:
        """Return a text without what any of the folders declares, trusted or not: judging that may log something."""
        for folder in self._places:
            text = mask(text, self._found(folder))
        return mask(text, self._known)

    def mask_json(self, document: JsonObject, text: str) -> JsonObject:
        """Return a document with the names of secrets; `text` is the same as it would be written."""
        if self.mask(text) == text:
            return document
        masked: JsonObject = mask_json(dict(document), self._known)
        return masked

    def _learn(self, text: str) -> None:
        """Take what a folder declares when that is in the text; trust is judged then only, which costs time."""
        for folder in self._places:
            found = self._found(folder)
            if found and _hidden(text, found) != text:
                self._places = tuple(place for place in self._places if place != folder)
                self.hide({name: value for name, value in found.items() if name in self._trusted(folder, found)})

    def _found(self, folder: Path) -> dict[str, str]:
        if folder not in self._declared:
            self._declared[folder] = _declared(folder)
        return self._declared[folder]

    def _trusted(self, folder: Path, found: Mapping[str, str]) -> frozenset[str]:
        """Return the names that a folder may declare; all of them where the record of trust can't be read."""
        import asyncio
        from concurrent.futures import ThreadPoolExecutor

        from hitl_tui.core.errors import HitlError
        from hitl_tui.policy.trust_book import trust_in

        try:
            with ThreadPoolExecutor(1) as pool:  # there may be a loop in this one
                trust = pool.submit(asyncio.run, trust_in(folder, self._data, self._once)).result()
        except HitlError:
            return frozenset(found)
        return frozenset(trust.config.secret_names)


def _hidden(text: str, secrets: Mapping[str, str]) -> str:
    """Return a text with the names of secrets, also of one that was shortened: what is left of it ends in `…`."""
    for name, secret in secrets.items() if "…" in text else ():
        for length in range(len(secret) - 1, SHORTEST_SECRET - 1, -1):
            text = text.replace(f"{secret[:length]}…", f"‹{name}›…")
    return mask(text, secrets)


def _declared(folder: Path) -> dict[str, str]:
    """Return the secrets that a folder's file names, trusted or not; none of a file that can't be read."""
    try:
        with (folder / FILE_NAME).open("rb") as file:
            content = file.read(_LARGEST)
    except (OSError, ValueError):
        return {}
    if b"secrets" not in content:
        return {}
    import tomllib

    try:
        section = tomllib.loads(content.decode("utf-8-sig")).get("secrets")
    except (ValueError, RecursionError):
        return {}
    names = section.get("names") if isinstance(section, dict) else None
    if not isinstance(names, list):
        return {}
    return {name: os.environ[name] for name in names if isinstance(name, str) and os.environ.get(name)}
