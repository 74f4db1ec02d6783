"""Canonical JSON: one encoding for one value, so that a digest binds exactly what was shown."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_text import canonical, digest, short_id
from hitl_tui.core.policy import Risk

TEXT = st.text(st.characters(codec=None, categories=None), max_size=20)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
VALUES = st.recursive(SCALARS, lambda v: st.lists(v, max_size=4) | st.dictionaries(TEXT, v, max_size=4), max_leaves=12)


def exactly(value: Any) -> Any:
    """Return something that is equal for equal JSON only: 1, 1.0 and true are apart, and so are 0.0 and -0.0."""
    if isinstance(value, dict):
        return {"object": {key: exactly(item) for key, item in value.items()}}
    if isinstance(value, list):
        return ["array", [exactly(item) for item in value]]
    return [type(value).__name__, repr(value)]


def reordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: reordered(value[key]) for key in reversed(value)}
    return [reordered(item) for item in value] if isinstance(value, list) else value


@given(VALUES)
def test_the_order_of_keys_does_not_matter(value: Any) -> None:
    assert canonical(reordered(value)) == canonical(value)


@given(VALUES)
def test_reading_the_encoding_gives_the_value_again(value: Any) -> None:
    assert exactly(json.loads(canonical(value))) == exactly(value)


@given(VALUES, VALUES)
def test_different_values_have_different_encodings(one: Any, other: Any) -> None:
    assert (canonical(one) == canonical(other)) == (exactly(one) == exactly(other))


@pytest.mark.parametrize(
    ("value", "encoding"),
    [
        ({"b": [1, 2.5, None, True], "a": "한글"}, '{"a":"한글","b":[1,2.5,null,true]}'),
        ({"é": 1, "z": 2, "Z": 3}, '{"Z":3,"z":2,"é":1}'),
        ('quote " back \\ tab\t', '"quote \\" back \\\\ tab\\t"'),
        (("tuple",), '["tuple"]'),
        (Risk.HIGH, '"high"'),
    ],
)
def test_the_encoding_is_the_shortest_utf_8_with_sorted_keys(value: Any, encoding: str) -> None:
    assert canonical(value) == encoding.encode()
    assert digest(value) == hashlib.sha256(encoding.encode()).hexdigest()


def test_lone_surrogates_have_digests_of_their_own() -> None:
    assert len({digest(text) for text in ("\ud83d", "\ude00", "\ud83d\ude00", "😀", "\\ud83d", "?")}) == 6


def _endless() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), b"bytes", {1}, object(), {"a": 1, 2: "b"}, {(1, 2): 3}, _endless()]
)
def test_what_json_has_no_form_for_is_refused_in_one_sentence(value: Any) -> None:
    with pytest.raises(BadInput) as error:
        canonical(value)
    assert "\n" not in error.value.message


def test_short_ids_are_stable_and_depend_on_every_part() -> None:
    assert short_id("a", 1, length=8) == digest(["a", 1])[:8]
    assert len({short_id("ab", "c"), short_id("a", "bc"), short_id("abc"), short_id("ab", "c", None)}) == 4
