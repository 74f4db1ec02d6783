"""What an entry's data becomes before it is hashed."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_text import canonical
from hitl_tui.ledger.records import DEEPEST, normalised_json

TEXT = st.text(st.characters(exclude_categories=()), max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(VALUES)
@example("전세금 \ud55c")  # Korean text shares its first byte with surrogates
@example({"\ud83d": ["\ud83d\ude00", "\ud83d", "\ude00"]})
def test_what_is_hashed_is_what_is_read_again(value: object) -> None:
    kept, raw = normalised_json(value)
    assert raw == canonical(kept)
    assert json.loads(raw) == kept
    assert normalised_json(kept) == (kept, raw)


def test_a_pair_of_surrogates_is_kept_as_the_character_it_is_read_as() -> None:
    assert normalised_json("\ud83d\ude00")[0] == "\U0001f600"


def test_what_nobody_could_read_again_is_refused() -> None:
    deep: object = 1
    for _ in range(DEEPEST + 1):
        deep = [deep]
    with pytest.raises(BadInput, match="levels deep"):
        normalised_json(deep)
