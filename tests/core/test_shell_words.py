"""Words of a line, quoted as in a shell, with JSON after `name=` as it stands."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_tui.core.shell_words import shell_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('names=["Ann","Bob"] subject=Offsite', ['names=["Ann","Bob"]', "subject=Offsite"]),
        ('to names=["Ann", "Bo b"]', ["to", 'names=["Ann", "Bo b"]']),
        ('at={"x": 1, "y": [2, 3]} z=1', ['at={"x": 1, "y": [2, 3]}', "z=1"]),
        ('said="a=[1] b" c=2', ["said=a=[1] b", "c=2"]),
        ("said='it is a=[1, 2] there'", ["said=it is a=[1, 2] there"]),
        ("a=[1,2]x b=3", ["a=[1,2]x", "b=3"]),
        ("'a=[1, 2]' b=3", ["a=[1, 2]", "b=3"]),
        ("names=[Ann,Bob] x=1", ["names=[Ann,Bob]", "x=1"]),
        (r"a\ b=[1] c", ["a b=[1]", "c"]),
        ("", []),
    ],
)
def test_json_stays_whole(text: str, words: list[str]) -> None:
    assert shell_words(text) == words


def test_an_open_quotation_mark_is_an_error() -> None:
    for text in ('a="b', "names=[1] it's", "a=[" * 30_000 + "'"):
        with pytest.raises(ValueError, match="quotation"):
            shell_words(text)


@given(st.text(alphabet="ab= '\"\\\n[]{},1", max_size=30))
def test_without_json_it_reads_as_a_shell_does(text: str) -> None:
    try:
        expected = shlex.split(text)
    except ValueError:
        return
    found = shell_words(text)
    assert found == expected or any(mark in text for mark in ("=[", "={"))
