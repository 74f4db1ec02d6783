"""Declared secrets that stand in documents: what is kept and found of these has their names."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace

from hitl_tui.core.safe_text import masker
from hitl_tui.extraction.blocks import Extraction

_LONG_LINE = 8


class SecretMask:
    """Masks declared secrets in documents.

    A line of 8 characters or more of a secret of several lines counts as the secret: a document may be cut there.

    Args:
        secrets: declared secrets, by name.
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self._secrets = dict(secrets)
        lines = [(name, line.strip()) for name, value in secrets.items() for line in value.splitlines()]
        self.mask = masker([*secrets.items(), *(pair for pair in lines if len(pair[1]) >= _LONG_LINE)])
        """Returns a text with the names of secrets instead of their values."""

    def lines(self, text: str) -> str:
        """Return a text of as many lines without secrets."""
        if not self.within(text):
            return text
        return "".join(self.mask(line) for line in text.splitlines(keepends=True))

    def within(self, text: str) -> bool:
        """Whether a text holds a secret."""
        return self.mask(text) != text

    def extraction(self, found: Extraction) -> Extraction:
        """Return the text of a document without secrets."""
        if not self._secrets:
            return found
        return replace(
            found,
            blocks=tuple(replace(b, heading=self.mask(b.heading), text=self.mask(b.text)) for b in found.blocks),
            note=self.mask(found.note),
        )

    def fingerprint(self, place: str) -> str:
        """Return what changes with the secrets and tells nothing of them: guessing a value costs what `scrypt` costs.

        Args:
            place: where it is kept, so that the same secrets look different elsewhere.
        """
        if not self._secrets:
            return ""
        told = json.dumps(sorted(self._secrets.items())).encode()
        return hashlib.scrypt(told, salt=place.encode("utf-8", "surrogateescape"), n=2**14, r=8, p=1, dklen=16).hex()
