"""Names of people: which can't be told apart, and which the program keeps for itself."""

from __future__ import annotations

import re
import unicodedata

from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message
from hitl_tui.core.names import clip, person
from hitl_tui.core.safe_text import one_line, safe_text

LONGEST_NAME = 64

_RESERVED = frozenset(
    {"agent", "anonymous", "approver", "audit", "claimed", "coordinator", "deadline", "expired", "hitl", "hitl-tui"}
    | {"limit", "mode", "nobody", "operator", "planner", "policy", "rule", "rules", "run", "runner", "supervisor"}
    | {"system", "timeout", "unknown", "workspace"}
)
"""What the record says where nobody decided."""
_RESERVED_BEGIN = re.compile(r"(?:policy|rule|mode|uid)(?:[\s._-]|\d|$)")
_ASCII_ALIKE = str.maketrans({"I": "l", "1": "l", "|": "l", "0": "o", "O": "o"})
_ALIKE_TOGETHER = (("rn", "m"), ("vv", "w"))
_JOINING = frozenset(".-_' @+")
_ALPHABETS = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU", "GEORGIAN", "HEBREW", "ARABIC")
"""Scripts of which one name may have only one; Korean, Japanese and Chinese ones stand beside each other."""


def skeleton(name: str) -> str:
    """Return what a name looks like: names with the same skeleton can't be told apart by eye (UTS #39)."""
    text = name
    if not text.isascii():
        from disarm import skeleton_key

        text = skeleton_key(text, digit_policy="tr39")
    text = text.translate(_ASCII_ALIKE).casefold()
    for pair, one in _ALIKE_TOGETHER:
        text = text.replace(pair, one)
    return "".join(character for character in text if character.isalnum())


def alike(one: str, other: str) -> bool:
    """Return whether two names are one, or can't be told apart."""
    return person(one) == person(other) or (skeleton(one) == skeleton(other) != "")


def checked_name(text: str, source: str) -> str:
    """Return a name that one person can have, in its normal form.

    Args:
        text: what was given.
        source: where: `--as`, `HITL_USER`, `The name of an approver`.

    Raises:
        BadInput: it is empty, too long, can't be shown as it is, mixes alphabets, or is one of the program's own.
    """
    name = text.strip()
    if not name:
        raise BadInput(Message("{} needs a name: it is recorded with every decision.", source))
    if len(name) > LONGEST_NAME or safe_text(name, multiline=False) != name:
        raise BadInput(Message("{} must be a name of at most {} visible characters.", source, LONGEST_NAME))
    shown = one_line(clip(name), 80)
    if unicodedata.normalize("NFKC", name) != name:
        plain = safe_text(unicodedata.normalize("NFKC", name), multiline=False)
        raise BadInput(Message('{}: "{}" has letters in another form than usual; write "{}".', source, shown, plain))
    wrong = next((c for c in name if not _fits(c)), "")
    if wrong:
        raise BadInput(
            Message(
                "{} must be one person's name: letters, digits, spaces, . - _ ' @ +, and no U+{}.",
                source,
                f"{ord(wrong):04X}",
            )
        )
    if not name[0].isalnum() or not (name[-1].isalnum() or unicodedata.category(name[-1])[0] == "M"):
        raise BadInput(Message('{}: "{}" must begin and end with a letter or digit.', source, shown))
    if "  " in name:
        raise BadInput(Message('{}: "{}" has two spaces in a row.', source, shown))
    scripts = {script for script in map(_alphabet, name) if script}
    if len(scripts) > 1:
        listed = " and ".join(sorted(script.capitalize() for script in scripts))
        raise BadInput(
            Message('{}: "{}" mixes {} letters, which can\'t be told apart; use one alphabet.', source, shown, listed)
        )
    if is_reserved(name):
        raise BadInput(Message('{} must be one person\'s name; the record calls something else "{}".', source, shown))
    return name


def is_reserved(name: str) -> bool:
    """Return whether a name is, or looks like, one that the record uses where nobody decided."""
    plain = person(name)
    words = {skeleton(word): word for word in _RESERVED}
    if plain in _RESERVED or _RESERVED_BEGIN.match(plain) or skeleton(name) in words:
        return True
    looks = skeleton(name)
    return any(looks.startswith(skeleton(word)) and looks[len(skeleton(word)) :].isdigit() for word in _RESERVED) or (
        re.match(r"(?:policy|po[li]+cy)ru[li]e", looks) is not None
    )


def _fits(character: str) -> bool:
    return character in _JOINING or unicodedata.category(character)[0] in "LM" or character.isdecimal()


def _alphabet(character: str) -> str:
    if not character.isalpha():
        return ""
    script = unicodedata.name(character, "").partition(" ")[0]
    return script if script in _ALPHABETS else ""
