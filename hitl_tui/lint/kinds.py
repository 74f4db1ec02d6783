"""What JSON has no form for, and how it is called."""

from __future__ import annotations

import re
from typing import Final

from hitl_tui.lint.catalogue import is_path
from hitl_tui.lint.sentence import Sentence, mark, say

_KINDS: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (
        re.compile(
            r"(?:datetime\.)?(?:datetime|date|time|timedelta|timezone)(?:\.(?:now|utcnow|today|fromisoformat|fromtimestamp|"
            r"utcfromtimestamp|strptime|combine|min|max|utc|fromordinal))?\(\)(?:\.(?:replace|astimezone|date|time)\(\))*\Z"
            r"|pendulum\.(?:now|today|datetime)\(\)\Z|arrow\.(?:now|utcnow)\(\)\Z|django\.utils\.timezone\.now\(\)\Z"
        ),
        mark("a date or time"),
    ),
    (re.compile(r"decimal\.Decimal\(\)\Z"), mark("a Decimal")),
    (re.compile(r"fractions\.Fraction\(\)\Z|complex\(\)\Z"), mark("a number JSON does not have")),
    (re.compile(r"uuid\.(?:uuid\d|UUID)\(\)\Z|uuid_utils\.uuid\d\(\)\Z"), mark("a UUID")),
    (re.compile(r"pathlib\.(?:Pure)?(?:Posix|Windows)?Path(?:\.(?:cwd|home))?\(\)\Z"), mark("a Path")),
    (re.compile(r"(?:frozen)?set\(\)\Z"), mark("a set")),
    (
        re.compile(
            r"bytes\(\)\Z|bytearray\(\)\Z|memoryview\(\)\Z|io\.BytesIO\(\)\Z|secrets\.token_bytes\(\)\Z|os\.urandom\(\)\Z"
            r"|base64\.\w+\(\)\Z|hashlib\.\w+\(\)\.digest\(\)\Z|pickle\.dumps\(\)\Z"
        ),
        mark("bytes"),
    ),
    (
        re.compile(
            r"(?:io\.)?open\(\)\Z|pathlib\.Path\(\)\.open\(\)\Z|tempfile\.\w*TemporaryFile\(\)\Z|io\.StringIO\(\)\Z"
        ),
        mark("an open file"),
    ),
    (re.compile(r"re\.(?:compile|match|search|fullmatch)\(\)\Z"), mark("a regular expression or match")),
    (re.compile(r"(?:map|filter|zip|iter|enumerate|reversed|itertools\.\w+)\(\)\Z"), mark("an iterator")),
    (re.compile(r"range\(\)\Z"), mark("a range")),
    (
        re.compile(r"(?:numpy|np)\.(?:array|zeros|ones|arange|linspace|asarray|random\.\w+)\(\)\Z"),
        mark("a numpy array"),
    ),
    (re.compile(r"(?:pandas|polars|pd|pl)\.(?:DataFrame|Series|read_\w+)\(\)\Z"), mark("a data frame")),
    (re.compile(r"(?:threading|asyncio)\.(?:Lock|RLock|Event|Semaphore|Queue)\(\)\Z"), mark("a lock or queue")),
    (re.compile(r"collections\.deque\(\)\Z|deque\(\)\Z"), mark("a deque")),
    (
        re.compile(
            r"(?:sqlite3|psycopg2?|requests|httpx|aiohttp)\.(?:connect|Session|Client|AsyncClient|ClientSession|"
            r"get|post|put|patch|delete|request)\(\)(?:\.(?:cursor|get|post|put|patch|delete|request|execute)\(\))*\Z"
        ),
        mark("a connection or response"),
    ),
    (
        re.compile(r"(?:builtins\.)?(?:ValueError|RuntimeError|Exception|KeyError|TypeError)\(\)\Z"),
        mark("an exception"),
    ),
    (re.compile(r"PIL\.Image\.\w+\(\)\Z|io\.BytesIO\(\)\Z"), mark("an image")),
    (re.compile(r"types\.SimpleNamespace\(\)\Z|object\(\)\Z"), mark("an object")),
)

_OTHERS: Final = (
    *(mark("a generator"), mark("a complex number"), mark("an ellipsis")),
    *(mark("a function"), mark("a class")),
)
"""Kinds that the syntax alone tells."""

_OF_CLASS: Final = {
    "an object of class ": mark("an object of class {name}"),
    "a member of ": mark("a member of {name}"),
}

_PATH_MAKERS: Final = frozenset(
    [
        "Path",
        "with_suffix",
        "with_name",
        "resolve",
        "absolute",
        "expanduser",
        "parent",
        "joinpath",
        "relative_to",
        "with_stem",
    ]
)


def kind_of(name: str) -> str:
    """Return what the result of a call is that JSON has no form for, in words; empty for nothing that is known.

    Args:
        name: with `()` at its end.
    """
    if (
        is_path(name)
        and name.endswith(("()", ".parent"))
        and name.rpartition(".")[2].removesuffix("()") in _PATH_MAKERS
    ):
        return "a Path"
    return next((kind for pattern, kind in _KINDS if pattern.match(name)), "")


def kind_told(kind: str) -> Sentence:
    """Return a kind as it is said."""
    for start, template in _OF_CLASS.items():
        if kind.startswith(start):
            return say(template, name=kind.removeprefix(start))
    return say(kind)
