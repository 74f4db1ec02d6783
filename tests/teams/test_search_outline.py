"""Where a document as a whole answers, the answer has its outline; a question of one of its parts gets that part."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from hitl_tui.teams.search.index import SearchIndex
from hitl_tui.teams.search.passage_search import SearchHits
from hitl_tui.teams.search.search_report import NOTHING, make_report

STEPS = ("Write the version down", "Run the whole suite", "Build the wheel", "Upload it", "Tell the users")
GUIDE = "# How to publish a release\n\n" + "\n\n".join(
    f"## {number}. {step}\n\nTo {step.lower()} for a release, ask the release manager for the list {number}."
    for number, step in enumerate(STEPS, start=1)
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "release.md").write_text(GUIDE)
    (root / "holidays.md").write_text("# Holidays\n\nThe office is closed on the last Friday of May.\n")
    return root


def found(root: Path, question: str) -> SearchHits:
    with SearchIndex(root.with_name("cache") / "search.db") as index:
        index.refresh(root)
        return index.query(question)


def test_a_question_that_the_heading_of_a_document_answers_gets_all_its_parts_in_order(folder: Path) -> None:
    question = "How do we publish a release?"
    hits = found(folder, question)
    assert hits.outline is not None and not hits.weak
    assert [part.partition(". ")[2] for _, part in hits.outline.parts] == list(STEPS)
    answer = make_report(question, hits, NOTHING).data["brief"]["answer"]
    places = [answer.index(step) for step in STEPS]
    assert places == sorted(places)
    assert SearchHits.from_dict(_kept(hits)).outline == hits.outline


@pytest.mark.parametrize(
    "question",
    [
        "How early do we publish a release?",
        "누가 publish a release 하나요?",
        "When is the office closed in May?",
        "Who has list 4 to upload a release?",
    ],
)
def test_a_question_of_one_passage_gets_no_outline(folder: Path, question: str) -> None:
    assert found(folder, question).outline is None


def _kept(hits: SearchHits) -> dict[str, object]:
    return dict(json.loads(json.dumps(asdict(hits))))
