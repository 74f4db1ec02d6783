"""Words of a line that a person writes, quoted as in a shell, with lists and objects in JSON as they stand."""

from __future__ import annotations

import json
import re
import shlex

_OPENS = re.compile(r"[^\s='\"\\]+=(?=[\[{])")
_STRETCH = re.compile(r"""'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"\\]+|\s+""", re.DOTALL)
"""What a shell reads at a time: something quoted, other characters of a word, or what is between words."""


def shell_words(text: str) -> list[str]:
    """Return the words of a text as `shlex.split` does, but the JSON list or object after `name=` whole.

    A shell would take the quotation marks out of `names=["Ann", "Bob"]` and part it at its spaces.

    Raises:
        ValueError: a quotation mark isn't closed.
    """
    words, begun, place, between = list[str](), 0, 0, True
    while place < len(text):
        opens = _OPENS.match(text, place) if between else None
        if opens and (end := _json_end(text, opens.end())):
            words += [*shlex.split(text[begun:place]), text[place:end]]
            begun = place = end
        elif stretch := _STRETCH.match(text, place):
            place, between = stretch.end(), stretch[0].isspace()
        else:  # a quotation mark that isn't closed
            break
    return words + shlex.split(text[begun:])


def _json_end(text: str, start: int) -> int:
    """Return where the JSON that begins at a place ends, if a word ends there; 0 for none."""
    try:
        end = json.JSONDecoder().raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return 0
    return end if end == len(text) or text[end].isspace() else 0
