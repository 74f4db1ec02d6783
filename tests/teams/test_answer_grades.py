"""The judge of answers: it takes the headline for the answer, and numbers for whole numbers."""

from __future__ import annotations

import pytest

from benchmarks.answers import HONEST, NOTHING, PARTLY, RIGHT, WRONG, grade
from benchmarks.question_sets import Question, Source, holds

PORT = Question("q", "f", "en", "passage", "Which port?", (("5080",),), (Source("docs/rapi.md", 11, 17),))
TABLE = Question("t", "f", "en", "table", "How many?", (("12,345", "12345"),), (Source("rows.csv"),))
NONE = Question("n", "f", "en", "none", "How is tea made?")


@pytest.mark.parametrize(
    ("question", "text", "found", "expected"),
    [
        (PORT, "## Answer\n\nIt listens on **5080**.\n\n## Evidence\n\nnone", True, RIGHT),
        (PORT, "## Answer\n\nThe best passage: `docs/rapi.md:12`\n\n> a port", True, RIGHT),
        (PORT, "## Answer\n\nThe best passage: `docs/rapi.md:40`\n\n> a port", True, WRONG),
        (PORT, "## Answer\n\nThe best passage: `other.md:12`\n\n## Evidence\n\n> port 5080", True, PARTLY),
        (PORT, "## Answer\n\nIt listens on 15080 or 5080.5.", True, WRONG),
        (PORT, "## Answer\n\nNothing was found about port 5080.", False, NOTHING),
        (TABLE, "## Answer\n\n12345 rows", True, RIGHT),
        (TABLE, "## Answer\n\n12,345 rows", True, RIGHT),
        (TABLE, "## Answer\n\nThe best passage: `rows.csv:3`\n\n> 112345", True, WRONG),
        (NONE, "## Answer\n\nNothing was found.", False, HONEST),
        (NONE, "## Answer\n\nThe best passage: `a.md:1`", True, WRONG),
    ],
)
def test_only_the_headline_is_the_answer(question: Question, text: str, found: bool, expected: str) -> None:
    assert grade(question, text, found=found) == expected


def test_a_place_counts_for_passages_of_its_lines_only() -> None:
    assert Source.of("a/b.md:3-9") == Source("a/b.md", 3, 9)
    assert Source.of("a/b.md:3") == Source("a/b.md", 3, 3)
    assert Source.of("a/b.md") == Source("a/b.md")


def test_words_are_found_whatever_their_marks() -> None:
    assert holds("run `gnt-instance  failover`\nnow", ["gnt-instance failover"])
    assert holds("**USR1**", ["usr1"])
    assert not holds("version 3.11", ["3.1"])
