"""Text that we did not write, shown exactly and harmlessly.

Whatever comes from a file, a command, an agent, a model or the network passes `safe_text` once, where it
enters, before any interface shows it. What could move the cursor, hide, reorder or disguise something becomes
a visible glyph, and `unsafe_text` gives back what was there. Markup is left as it is: interfaces never
parse it.

Letters that look alike and scripts that run from right to left are text like any other and pass.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NewType

from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_types import Json
from hitl_tui.core.messages import Message

SafeText = NewType("SafeText", str)
"""Text that has passed `safe_text`."""

ELLIPSIS = "…"
MOST_MARKS = 4
"""Combining marks that one letter may carry; what is piled on top shows as code points."""
SHORTEST_SECRET = 4
"""Values shorter than this would be found everywhere, so `mask` leaves them alone."""

# What is surely one visible character with no effect on its neighbours. The list only needs to be right,
# not complete: everything else is looked up one character at a time, and what can't be looked up is shown
# as a code point.
_PLAIN = (
    r"\x20-\x7e\xa1-\xac\xae-\u02ff\u0370-\u0377\u037a-\u037f\u0388-\u038a\u038e-\u03a1\u03a3-\u0482\u048a-\u052f"
    r"\u0531-\u0556\u05d0-\u05ea\u0620-\u064a\u0904-\u0939\u0e01-\u0e30\u1100-\u115e\u1e00-\u1f15"
    r"\u2010-\u2027\u2030-\u205e\u20a0-\u20c0\u2100-\u218b\u2190-\u23ff\u2460-\u27e7\u27e9-\u27ff\u2801-\u2b73"
    r"\u3001-\u3029\u3030-\u303f\u3041-\u3096\u309b-\u30ff\u3105-\u312f\u3131-\u3163\u3165-\u318e\u3190-\u31e3"
    r"\u3200-\u321e\u3220-\ua48c\uac00-\ud7a3\uf900-\ufa6d\uff01-\uff9f\uffa1-\uffbe"
    r"\U0001f300-\U0001f3fa\U0001f400-\U0001f6d7\U00020000-\U0002a6dd"
)
# Compiling the whole list takes milliseconds, which a text in ASCII need not wait for.
_SUSPECT_ASCII_IN_LINES = re.compile(r"[^\n\x20-\x7e]+")
_SUSPECT_ASCII_IN_LINE = re.compile(r"[^\x20-\x7e]+")
_ESCAPE = "⟨U\\+([0-9A-F]{4,6})⟩"
_OURS = "[\u2400-\u241f\u2421]|⟨U\\+([0-9A-F]{4,6})⟩"
_GLYPHS = frozenset([*map(chr, range(0x2400, 0x2420)), "\u2421", "\u27e8"])
_OPEN, _CLOSE = "⟨", "⟩"

# Categories that are never a visible character of width one or two: controls, format characters,
# surrogates, private use, unassigned (their look is not known yet), line and paragraph separators,
# spaces; and marks that enclose what stands before them, which cover their neighbours.
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs", "Me"})

# Invisible or disguising by Unicode's other properties, although their category says letter, mark or
# symbol.
_HIDDEN_RANGES = (
    (0x034F, 0x034F),  # combining grapheme joiner
    (0x115F, 0x1160),  # Hangul fillers
    (0x17B4, 0x17B5),  # Khmer inherent vowels
    (0x180B, 0x180F),  # Mongolian variation selectors and vowel separator
    (0x2800, 0x2800),  # Braille blank
    (0x2D7F, 0x2D7F),  # Tifinagh consonant joiner
    (0x3164, 0x3164),  # Hangul filler
    (0xFE00, 0xFE0F),  # variation selectors
    (0xFFA0, 0xFFA0),  # halfwidth Hangul filler
    (0xFFFC, 0xFFFC),  # object replacement
    (0x13441, 0x13442),  # Egyptian blanks
    (0x16FE4, 0x16FE4),  # Khitan filler
    (0x1D159, 0x1D159),  # null notehead
    (0x1F3FB, 0x1F3FF),  # skin tones: terminals disagree about their width
    (0xE0000, 0xE0FFF),  # tags, variation selectors supplement
)
# Vowels and finals of conjoining Hangul have no width of their own: they join the letter before.
_JOINING = ((0x1160, 0x11FF), (0xD7B0, 0xD7FF))
# Wide since Unicode 16; older tables of Python call them narrow.
_WIDE = ((0x2630, 0x2637), (0x268A, 0x268F), (0x4DC0, 0x4DFF), (0x1D300, 0x1D356), (0x1D360, 0x1D376))


def safe_text(text: str, *, multiline: bool = True, limit: int | None = None) -> SafeText:
    """Return `text` with everything invisible, moving or reordering made visible.

    C0 controls and DEL become their pictures (`␛`, `␍`, `␉`, `␡`). C1 controls, bidi controls, zero-width
    and other format characters, joiners and variation selectors, tags, spaces other than U+0020, fillers,
    private-use and unassigned code points, lone surrogates, marks without a letter and marks beyond
    `MOST_MARKS` become `⟨U+202E⟩`. So do these glyphs themselves when they stand in the input, which
    makes it reversible: without `limit`, `unsafe_text(safe_text(x)) == x` for every string.

    It is for text that enters, once: passing the result again escapes the glyphs of the first time, and `safe_again` is
    for what may have passed. A text in which there is nothing to show is returned itself, so that a message stays one.

    Args:
        text: anything, lone surrogates included.
        multiline: keep line feeds; otherwise they become `␊`.
        limit: most characters of the result. What is left out is counted at its end, `…⟨+1234⟩`, which no
            input can imitate, as `⟨` is never let through.

    Raises:
        ValueError: `limit` is negative.
    """
    suspect = _suspect(text, multiline)
    if limit is None:
        shown = suspect.sub(_shown_run, text)
        return SafeText(text if shown == text else shown)
    if limit < 0:
        raise ValueError("limit must not be negative")
    # No character becomes shorter, so what lies beyond the limit needs no look.
    shown = suspect.sub(_shown_run, text[: limit + 1])
    if len(shown) <= limit:
        return SafeText(text if shown == text else shown)
    room = limit - len(f"{ELLIPSIS}{_OPEN}+{len(text)}{_CLOSE}")
    if room < 0:
        return SafeText(ELLIPSIS[:limit])
    kept = shown[: _cut(shown, room)]
    return SafeText(f"{kept}{ELLIPSIS}{_OPEN}+{len(text) - len(unsafe_text(kept))}{_CLOSE}")


def safe_again(text: str, *, multiline: bool = True) -> SafeText:
    """Return text that may have passed `safe_text` before, safe: what has passed stays as it is.

    It is just as harmless on text that has not, though then a glyph may be the input's own, and `unsafe_text` doesn't
    give that back.

    Args:
        text: anything.
        multiline: keep line feeds; otherwise they become `␊`.
    """
    shown = _suspect(text, multiline).sub(_shown_run_again, text)
    return SafeText(text if shown == text else shown)


def escaped_json(text: str) -> str:
    """Return JSON text with what `safe_text` would make visible written as `\\uXXXX`; it means the same."""
    return _suspect(text, multiline=True).sub(_escaped_run, text)


def unsafe_text(safe: str) -> str:
    """Return what `safe_text` was given, exactly, when it was given no limit.

    The result is for files, digests and programs, never for a screen. Total: what isn't one of our glyphs
    stays.
    """
    text = re.sub(_OURS, _original, safe)
    return safe if text == safe else text


def text_lines(text: str) -> list[str]:
    """Return a text's lines. Only line feeds end one; Python's own `splitlines` loses other separators unseen."""
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n")


def one_line(text: str, width: int) -> SafeText:
    """Return `text` in one line of at most `width` terminal cells, for a table cell or a title.

    Line feeds become `␊`; what doesn't fit is replaced by `…`. Takes text that has passed `safe_text`
    (its glyphs are not escaped again) and is just as harmless on text that has not, though then a glyph
    may be the input's own.
    """
    if width <= 0:
        return SafeText("")
    # A letter with all its marks takes MOST_MARKS + 1 characters and at least one cell.
    head = text[: (width + 1) * (MOST_MARKS + 1) + len("⟨U+10FFFF⟩")]
    shown = clip(_suspect(head, multiline=False).sub(_shown_run_again, head), width)
    return SafeText(text if shown == text else shown)


def cell_width(text: str) -> int:
    """Return how many terminal cells one line of safe text takes; CJK and emoji count 2, combining marks 0."""
    if text.isascii():
        return len(text)
    return sum(map(_cells, text))


def clip(text: str, cells: int) -> str:
    """Return the start of one line of safe text, at most `cells` wide, ending in `…` where it was cut.

    A letter is never parted from its marks, nor a `⟨U+202E⟩` cut in two.
    """
    if cells <= 0:
        return ""
    if len(text) <= cells and cell_width(text) <= cells:
        return text
    if text.isascii():
        return text[: cells - 1] + ELLIPSIS
    used = end = 0
    for position, character in enumerate(text):
        used += _cells(character)
        if used > cells:
            return text[: _cut(text, end)] + ELLIPSIS
        if used <= cells - 1:
            end = position + 1
    return text


def mask(text: str, secrets: Mapping[str, str]) -> str:
    """Return `text` with the values of secrets replaced by their names, as in `‹DB_PASSWORD›`.

    Values are also found as they look within JSON text, whatever it escapes, and after `safe_text`. Where values
    overlap, all that any of them covers is replaced, under the name of the longest. Values that are shorter than
    `SHORTEST_SECRET` characters without the white space around them are left alone.

    Args:
        text: anything.
        secrets: values by name; of two names with one value the first is shown.
    """
    return masker(secrets.items())(text)


def masker(secrets: Iterable[tuple[str, str]]) -> Callable[[str], str]:
    """Return what masks texts as `mask` does, of pairs of name and value; for many texts."""
    needles = _needles(secrets)
    return lambda text: _mask(text, needles)


def mask_json(value: Any, secrets: Mapping[str, str]) -> Any:
    """Return a copy of a JSON value with `mask` applied to every text, key and number in it.

    Raises:
        BadInput: the value holds something JSON has no form for, or is nested too deeply.
    """
    needles = _needles(secrets.items())
    try:
        return _masked_value(value, needles)
    except (RecursionError, ValueError) as error:  # ValueError: more digits than Python will write
        raise BadInput(Message("This value is nested too deeply, or holds a number too long, to be shown.")) from error


def _suspect(text: str, multiline: bool) -> re.Pattern[str]:
    """Return what finds the characters of a text that need a look."""
    if text.isascii():
        return _SUSPECT_ASCII_IN_LINES if multiline else _SUSPECT_ASCII_IN_LINE
    return _suspect_anywhere(multiline)


@lru_cache(maxsize=2)
def _suspect_anywhere(multiline: bool) -> re.Pattern[str]:
    return re.compile(f"[^\n{_PLAIN}]+" if multiline else f"[^{_PLAIN}]+")


def _shown_run(match: re.Match[str]) -> str:
    return _shown(match, frozenset())


def _shown_run_again(match: re.Match[str]) -> str:
    return _shown(match, _GLYPHS)


def _escaped_run(match: re.Match[str]) -> str:
    return _shown(match, _GLYPHS, _json_escape)


def _json_escape(character: str) -> str:
    return json.dumps(character)[1:-1]


def _shown(match: re.Match[str], spared: frozenset[str], escape: Callable[[str], str] | None = None) -> str:
    start = match.start()
    # A mark needs a letter to sit on, or it lands on whatever an interface draws before this text.
    marks = 0 if start and match.string[start - 1] not in " \n" else MOST_MARKS
    out: list[str] = []
    for character in match[0]:
        glyph = _glyph(character)
        if glyph and character not in spared:
            out.append(escape(character) if escape else glyph)
            marks = MOST_MARKS
        elif not _is_mark(character):
            out.append(character)
            marks = 0
        elif marks < MOST_MARKS:
            out.append(character)
            marks += 1
        else:
            out.append(escape(character) if escape else _code_point(character))
    return "".join(out)


@lru_cache(maxsize=4096)
def _glyph(character: str) -> str:
    """Return what stands for a character that can't be shown itself; empty for one that can."""
    number = ord(character)
    if number < 0x20:
        return chr(0x2400 + number)
    if number == 0x7F:
        return "\u2421"
    if number == 0x20:
        return ""
    hidden = (
        character in _GLYPHS or unicodedata.category(character) in _HIDDEN_CATEGORIES or _within(number, _HIDDEN_RANGES)
    )
    return _code_point(character) if hidden else ""


@lru_cache(maxsize=4096)
def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] == "M" or _within(ord(character), _JOINING)


@lru_cache(maxsize=4096)
def _cells(character: str) -> int:
    if _is_mark(character):
        return 0
    if unicodedata.east_asian_width(character) in "WF" or _within(ord(character), _WIDE):
        return 2
    return 1


def _within(number: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= number <= last for first, last in ranges)


def _code_point(character: str) -> str:
    return f"{_OPEN}U+{ord(character):04X}{_CLOSE}"


def _original(match: re.Match[str]) -> str:
    if match[1] is None:
        number = ord(match[0]) - 0x2400
        return chr(0x7F if number == 0x21 else number)
    number = int(match[1], 16)
    return chr(number) if number <= 0x10FFFF else match[0]


def _cut(shown: str, position: int) -> int:
    """Return the last place at or before `position` where safe text may be cut."""
    start = shown.rfind(_OPEN, 0, position)
    if start >= 0:
        escape = re.compile(_ESCAPE).match(shown, start)
        if escape and escape.end() > position:
            return start
    while 0 < position < len(shown) and _is_mark(shown[position]):
        position -= 1
    return position


def _needles(secrets: Iterable[tuple[str, str]]) -> dict[str | re.Pattern[str], str]:
    """Return what to look for with the names to show."""
    names: dict[str | re.Pattern[str], str] = {}
    for name, secret in secrets:
        value = secret.strip()
        if len(value) < SHORTEST_SECRET:
            continue
        forms = (value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1])
        for form in forms:
            for needle in (form, safe_text(form), safe_text(form, multiline=False)):
                names.setdefault(needle, name)
        names.setdefault(_with_escapes(value), name)
    return names


@lru_cache(maxsize=64)
def _with_escapes(value: str) -> re.Pattern[str]:
    """Return what finds a value any of whose characters JSON text writes as `\\uXXXX`, also within other JSON text."""
    parts = []
    for character in re.findall(r"\\+|[^\\]", value):
        if character[0] == "\\":  # as many as there are: told apart they would take forever to tell
            parts.append(r"(?>(?:\\{1,8}u005[cC]|\\(?!\\{0,7}u[0-9a-fA-F]{4}))+)")
            continue
        units = character.encode("utf-16-be", "surrogatepass").hex()
        code = "".join(rf"\\{{1,8}}u(?i:{units[at : at + 4]})" for at in range(0, len(units), 4))
        short = rf"|\\{{1,8}}{re.escape(_SHORT_ESCAPES[character])}" if character in _SHORT_ESCAPES else ""
        parts.append(f"(?:{re.escape(character)}|{code}{short})")
    return re.compile("".join(parts))


_SHORT_ESCAPES = {"\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t", '"': '"', "/": "/"}


def _mask(text: str, needles: Mapping[str | re.Pattern[str], str]) -> str:
    spans = sorted((*span, name) for needle, name in needles.items() for span in _occurrences(text, needle))
    out: list[str] = []
    done = index = 0
    while index < len(spans):
        start, end, _ = longest = spans[index]
        while index < len(spans) and spans[index][0] < end:
            span = spans[index]
            end = max(end, span[1])
            longest = max(longest, span, key=lambda s: s[1] - s[0])
            index += 1
        out += (text[done:start], f"‹{longest[2]}›")
        done = end
    return "".join([*out, text[done:]]) if out else text


def _occurrences(text: str, needle: str | re.Pattern[str]) -> Iterator[tuple[int, int]]:
    if isinstance(needle, str):
        start = text.find(needle)
        while start >= 0:
            yield start, start + len(needle)
            start = text.find(needle, start + 1)
    elif "\\u" in text or "\\/" in text:
        found = needle.search(text)
        while found:
            yield found.span()
            found = needle.search(text, found.start() + 1)


def _masked_value(value: Json, needles: Mapping[str | re.Pattern[str], str]) -> Json:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _mask(value, needles)
    if isinstance(value, int | float):
        digits = str(value)
        masked = _mask(digits, needles)
        return value if masked == digits else masked
    if isinstance(value, list | tuple):
        return [_masked_value(item, needles) for item in value]
    if isinstance(value, dict):
        out: dict[str, Json] = {}
        for key, item in value.items():
            name = _mask(str(key), needles)
            while name in out:  # two keys that differ in a secret only: nothing may vanish
                name += "'"
            out[name] = _masked_value(item, needles)
        return out
    raise BadInput(Message("A {} can't be written as JSON.", type(value).__name__))
