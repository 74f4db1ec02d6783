"""What a question says without the markup that stands in it: the words of a tag are not what is asked for."""

from __future__ import annotations

import re

_HIDDEN = re.compile(
    r"<!--.{0,2000}?-->|<(script|style)\b[^<>]{0,400}>.{0,2000}?</\1\s{0,9}>", re.IGNORECASE | re.DOTALL
)
_TAG = re.compile(r"<(?:/[A-Za-z][\w:-]{0,40}\s{0,9}|[A-Za-z][\w:-]{0,40}\s[^<>=]{0,200}=[^<>]{0,600})>")
"""A closing tag, or one with attributes. `<details>` alone is how people write a name, as is `List<String>`."""
_LINK = re.compile(r"!?\[([^\[\]\n]{0,200})\]\([^()\s]{1,400}(?:\s\"[^\"\n]{0,200}\")?\)")


def without_tags(text: str) -> str:
    """Return a question without HTML tags, and with the words of links and images in place of their targets.

    Args:
        text: the question, as written.
    """
    return _LINK.sub(r"\1", _TAG.sub(" ", _HIDDEN.sub(" ", text)))
