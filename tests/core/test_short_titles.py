"""What a session and a step are called in a list: a beginning of their text that can stand alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_tui.core.safe_text import cell_width
from hitl_tui.core.short_titles import WIDTH, short_title


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Who pays for a broken boiler?", "Who pays for a broken boiler?"),
        (
            "The landlord wants to raise my jeonse deposit from 300 million won to 1 billion won. How can I?",
            "The landlord wants to raise my jeonse deposit…",
        ),
        ("web-1's disk is full. Find in the runbook which logs may be deleted, then measure.", "web-1's disk is full"),
        (
            "Count the duplicate records, then back up the database, then delete the duplicate records.",
            "Count the duplicate records",
        ),
        (
            "Who pays for a broken boiler in a rented flat and what can the tenant do?",
            "Who pays for a broken boiler in a rented flat",
        ),
        ("What did the oven repair cost and until when is the warranty valid?", "What did the oven repair cost"),
        ("Clean up the old logs\nThe disk of web-1 is full again, as it was last week.", "Clean up the old logs"),
        (
            "집주인이 전세금 3억을 10억으로 올려달래. 법적으로 해결방법 알려줘",
            "집주인이 전세금 3억을 10억으로 올려달래",
        ),
        ("임차인이 수리비를 청구할 수 있는지, 있다면 얼마까지인지 알려주세요", "임차인이 수리비를 청구할 수 있는지"),
        ("Version 1.2. of the handbook says that overtime is paid at 150 percent", "Version 1.2. of the handbook says"),
        ("x" * 99, "x" * (WIDTH - 1) + "…"),
    ],
)
def test_a_title_is_the_first_words_that_can_stand_alone(text: str, title: str) -> None:
    assert short_title(text) == title


@given(st.text(max_size=300), st.integers(8, 60))
def test_a_title_is_never_wider_and_never_empty_for_words(text: str, width: int) -> None:
    title = short_title(text, width)
    assert cell_width(title) <= width
    assert bool(title) or not text.strip()
    assert "\n" not in title


@given(
    st.lists(
        st.sampled_from(
            ["the", "rent", "rises", "and", "with", "to", "from", "5%", "won", "law,", "then", "who.", "pays"]
        ),
        min_size=12,
    )
)
def test_a_title_ends_with_no_word_that_leads_on(words: list[str]) -> None:
    text = " ".join(words)
    title = short_title(text)
    if title != text.strip(" .,") and len(title.split()) > 3:
        assert title.removesuffix("…").split()[-1] not in ("the", "and", "with", "to", "from", "who")
