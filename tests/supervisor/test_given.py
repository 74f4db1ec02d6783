"""What sessions are called when nobody gave them a title."""

from __future__ import annotations

import pytest

from hitl_tui.supervisor.session_input import LONGEST_TITLE, fork_title, graph_title
from hitl_tui.supervisor.storage import SessionInfo


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ('{"query": "flat 3"}', "review: flat 3"),
        ('{"query": "flat\\n3", "amount": 5, "tags": ["a", null]}', "review: query flat 3, amount 5, tags a, null"),
        ('{"messages": [{"role": "user", "content": "hello"}]}', "review: hello"),
        ("review my lease\nnow", "review: review my lease"),
        ('{"broken', 'review: {"broken'),
        ("{}", "review"),
        ("[" * 5_000, f"review: {'[' * 38}…"),
    ],
)
def test_a_session_with_a_graph_is_called_by_its_name_and_input_in_words(text: str, title: str) -> None:
    assert graph_title("review", text) == title


def test_a_fork_says_of_what_it_is_one() -> None:
    assert fork_title("the lease", "s5") == "the lease (fork of s5)"
    assert fork_title("the lease (fork of s5)", "s6") == "the lease (fork of s6)"
    assert len(fork_title("x" * LONGEST_TITLE, "s5")) == LONGEST_TITLE


LONG = "Who pays for a broken boiler in a rented flat and what can the tenant do if nobody repairs it?"


@pytest.mark.parametrize(
    ("title", "query", "called"),
    [
        ("Who pays for a broken boiler in a rented flat", LONG, "Who pays for a broken boiler in a rented flat"),
        (LONG, LONG, "Who pays for a broken boiler in a rented flat"),
        (f"{LONG} (fork of s5)", LONG, "Who pays for a broken boiler in a rented flat (fork of s5)"),
        (f"{LONG}\nmore", "", f"{LONG}\nmore"),
        ("The boiler of the flat that my grandmother rented out before she moved to the sea", LONG, ""),
        ("Who pays", LONG, "Who pays"),
    ],
)
def test_an_older_session_whose_title_is_its_query_is_called_by_a_few_words(
    title: str, query: str, called: str
) -> None:
    info = SessionInfo("s1", "/w", title, "2026-01-01T00:00:00+00:00", "s1", query)
    assert info.called == (called or title)
    assert info.title == title, "its record keeps it"
