"""Every key of a TOML text is found where it stands."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_tui.config.problems import Path, key_places, place_of

ARRAYS = """\
list = [ # comment with ] and "
  1, [2, "]"],
  { x = 1, "y" = [ 3 ] },
  # another
  'a#b', 1979-05-27 07:32:00,
]
after = { p.q = 1, r = { s = "}" } }

[[policy]]
team = "a"
[[policy]]
team = "b"
[policy.sub]
deep = true
[[policy.items]]
n = 1
[[policy.items]]
n = 2
"""
STRINGS = (
    'a = """one\n[no]\nb = 1 \\"""\n"""\n'
    "c = '''x\n[[no]]\n''''\n"
    'd = """ends in quotes"""""\n'
    'e = \'#\'\r\nf = "\\"#"\r\n'
    "g = -0.5e3 # h = 1\n"
)


def paths_of(value: Any, path: Path = ()) -> set[Path]:
    """Every path of a parsed text, as the standard library sees it."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = {path} if path else set()
    for step, inner in steps:
        found |= paths_of(inner, (*path, step))
    return found


@pytest.mark.parametrize(
    "text", [ARRAYS, STRINGS, "", "\n\n# only a comment", "a=1", "[x]", "[[x]]\n[[x]]", "a = []\nb={}"]
)
def test_exactly_the_keys_of_the_text_are_found(text: str) -> None:
    assert set(key_places(text)) == paths_of(tomllib.loads(text))


@pytest.mark.parametrize(
    ("text", "path", "place"),
    [
        ("a = 1", ("a",), (1, 1)),
        ("\n\n  a = 1", ("a",), (3, 3)),
        ("a = { b = 1, c = 2 }", ("a", "c"), (1, 14)),
        ("x.y.z = 1", ("x", "y"), (1, 3)),
        ("[a.b]\nc = 1", ("a",), (1, 1)),
        ("[a.b]\nc = 1\n[a]\nd = 1", ("a",), (3, 1)),
        ("[a.'b c']\n\"d\\u0041\" = 1", ("a", "b c", "dA"), (2, 1)),
        ('[ a . "b" ]\r\nc=1\r\nd=2', ("a", "b", "d"), (3, 1)),
        (ARRAYS, ("list", 0), (2, 3)),
        (ARRAYS, ("list", 1, 1), (2, 10)),
        (ARRAYS, ("list", 2, "y", 0), (3, 20)),
        (ARRAYS, ("list", 3), (5, 3)),
        (ARRAYS, ("list", 4), (5, 10)),
        (ARRAYS, ("after", "p", "q"), (7, 13)),
        (ARRAYS, ("policy", 0, "team"), (10, 1)),
        (ARRAYS, ("policy", 1), (11, 1)),
        (ARRAYS, ("policy", 1, "sub", "deep"), (14, 1)),
        (ARRAYS, ("policy", 1, "items", 1, "n"), (18, 1)),
        (STRINGS, ("c",), (5, 1)),
        (STRINGS, ("d",), (8, 1)),
        (STRINGS, ("f",), (10, 1)),
        (STRINGS, ("g",), (11, 1)),
    ],
)
def test_place(text: str, path: Path, place: tuple[int, int]) -> None:
    assert key_places(text)[path] == place


def test_a_path_that_is_nowhere_has_the_place_of_the_table_around_it() -> None:
    places = key_places("\n[a]\nb = 1")
    assert place_of(places, ("a", "missing", 3)) == (2, 1)
    assert place_of(places, ("missing",)) == (1, 1)


KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
SCALARS = st.integers(-9, 9) | st.booleans() | st.text("a#]}\"'\\\n=,[{ ", max_size=6)
TREES = st.dictionaries(
    KEYS,
    st.recursive(SCALARS, lambda t: st.lists(t, max_size=3) | st.dictionaries(KEYS, t, max_size=3), max_leaves=8),
    max_size=4,
)


def quote(text: str) -> str:
    escaped = "".join(f"\\u{ord(c):04x}" if ord(c) < 0x20 or c in '"\\\x7f' else c for c in text)
    return f'"{escaped}"'


def inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{quote(k)} = {inline(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[\n # ] comment\n" + ",\n".join(inline(item) for item in value) + "\n]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return quote(value) if isinstance(value, str) else str(value)


@given(TREES, st.booleans())
def test_places_of_any_tree(tree: dict[str, Any], tables: bool) -> None:
    lines: list[str] = []
    plain = {key: value for key, value in tree.items() if not (tables and isinstance(value, dict))}
    lines += [f"{quote(key)} = {inline(value)}" for key, value in plain.items()]
    for key in tree.keys() - plain.keys():
        lines += ["", f"[ {quote(key)} ] # ]"]
        lines += [f"{quote(inner)} = {inline(value)}" for inner, value in tree[key].items()]
    text = "\n".join(lines)
    assert tomllib.loads(text) == tree
    places = key_places(text)
    assert set(places) == paths_of(tree)
    for key in plain:
        line, column = places[(key,)]
        assert text.split("\n")[line - 1][column - 1 :].startswith(quote(key))
