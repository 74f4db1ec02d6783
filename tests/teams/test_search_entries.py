"""Counting what a document consists of: releases, questions, functions."""

from __future__ import annotations

from pathlib import Path

import pytest

from hitl_tui.teams.search.index import SearchIndex
from hitl_tui.teams.search.passage_search import SearchHits

CHANGES = """# Changelog

## [Unreleased]

Nothing yet.

## [2.1.0] - 2025-06-18

Faster than 2.0.4 by half.

## [2.0.4] - 2025-06-02

A fix.

## [2.0.3] - 2024-12-01

Another one. Python 3.12 is supported.
"""
PLAIN = (
    "widget (1.4, spring)\n\n    * Python 3.12 works.\n\nwidget (1.3)\n\n    * First.\n\nwidget (1.2)\n\n    * None.\n"
)
NOTES = "".join(
    f"Release notes for Kit {new} - what's new since {old}:\n\n - a fix of {old}\n\n"
    for new, old in (("2.7.1", "2.6.5"), ("2.6.5", "2.6.4"), ("2.6.4", "2.4.3"))
)
ANSWERS = (
    "# Help\n\n## Can I pay by card?\n\nYes.\n\n## Where is my parcel?\n\nIn the post.\n\n## Contact\n\nBy mail.\n"
)
CODE = "def helper():\n    return 1\n\n\ndef test_one():\n    helper()\n\n\nclass Box:\n    def test_two(self): ...\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    made.mkdir()
    (made / "changes.md").write_text(CHANGES)
    (made / "HISTORY").write_text(PLAIN)
    (made / "HISTORY.md").write_text("## 3.17.1\n\nA fix.\n\n## 3.17.0\n\nNew.\n\n## 3.1.4\n\nOld.\n")
    (made / "NEWS.txt").write_text(NOTES)
    (made / "help.md").write_text(ANSWERS)
    (made / "test_box.py").write_text(CODE)
    return made


def ask(folder: Path, question: str) -> SearchHits:
    with SearchIndex(folder.parent / "cache.db") as index:
        index.refresh(folder)
        return index.query(question)


@pytest.mark.parametrize(
    ("question", "count", "noun", "path"),
    [
        ("How many releases does changes.md list?", 3, "release", "changes.md"),
        ("changes.md에 2025년 6월 버전이 몇 개야?", 2, "release", "changes.md"),
        ("How many releases of the 2.0 series does changes.md list?", 2, "release", "changes.md"),
        ("How many 2.0.x releases are in changes.md?", 2, "release", "changes.md"),
        ("How many 2.0 releases (2.0.0 and its patches) are in changes.md?", 2, "release", "changes.md"),
        ("How many 3.17 releases are in HISTORY.md?", 2, "release", "HISTORY.md"),
        ("changes.md에 2.0.x 버전이 몇 개야?", 2, "release", "changes.md"),
        ("How many releases of the 2.6 series have notes in NEWS.txt?", 2, "release", "NEWS.txt"),
        ("How many versions came out in June 2025?", 2, "release", "changes.md"),
        ("HISTORY에 릴리스가 모두 몇 개 적혀 있어?", 3, "release", "HISTORY"),
        ("How many questions are answered in the help?", 2, "question", "help.md"),
        ("how many test functions are in test_box.py?", 2, "function", "test_box.py"),
        ("test_box.py에 함수가 몇 개 있나요?", 3, "function", "test_box.py"),
        ("How many functions in test_box.py start with test_?", 2, "function", "test_box.py"),
        ("How many functions does test_box.py have, not counting the helper?", 2, "function", "test_box.py"),
        ("test_box.py에 함수가 helper 빼고 몇 개 있나요?", 2, "function", "test_box.py"),
    ],
)
def test_entries_are_counted(folder: Path, question: str, count: int, noun: str, path: str) -> None:
    counted = ask(folder, question).counted
    assert counted is not None
    assert (counted.lines, counted.entries, counted.place) == (count, noun, path)


@pytest.mark.parametrize(
    ("question", "noun", "place", "texts"),
    [
        ("list the functions in test_box.py", "function", "test_box.py", ["def help", "def test_o", "def test_t"]),
        ("test_box.py에 어떤 클래스가 있어?", "class_definition", "test_box.py", ["class Box"]),
        ("Which folders are in insurance/korea?", "folder", "insurance/korea", ["child/", "term_life/"]),
        ("For how many Korean risks is there a subfolder?", "folder", "insurance/korea", ["child/", "term_life/"]),
        ("보험 폴더 안의 하위 폴더 뭐뭐 있어?", "folder", "insurance", ["japan/", "korea/"]),
        ("insurance korea 상품 폴더는 전부 몇 개야?", "folder", "insurance/korea", ["child/", "term_life/"]),
        ("how many folders are there here?", "folder", ".", ["insurance/", "plans/"]),
    ],
)
def test_entries_are_listed(folder: Path, question: str, noun: str, place: str, texts: list[str]) -> None:
    for path in ("insurance/korea/term_life/a.md", "insurance/korea/child/b.md", "insurance/japan/c.md", "plans/d.md"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("# Rates\n\nThey rise.\n")
    hits = ask(folder, question)
    assert hits.counted is not None
    assert (hits.counted.entries, hits.counted.place, hits.counted.lines) == (noun, place, len(texts))
    assert all(one.text.startswith(text) for one, text in zip(hits.passages, texts, strict=True))


@pytest.mark.parametrize(
    "question",
    [
        "Which version fixed it?",
        "How many days may a parcel take?",
        "Which function in test_box.py calls the helper?",
        "어떤 폴더에 저장돼?",
        "We set up backups for the box. Which directories must be in there?",
        "test_box.py의 helper 함수는 뭐 하는 거야?",
    ],
)
def test_other_questions_count_nothing(folder: Path, question: str) -> None:
    counted = ask(folder, question).counted
    assert counted is None or not counted.entries


def test_a_folder_that_is_called_like_a_word_of_the_question_does_not_hide_what_is_elsewhere(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    (folder / "plugins").mkdir(parents=True)
    (folder / "plugins" / "intro.md").write_text("# Plugins\n\nThey add features.\n")
    for name in ("alpha", "beta"):
        (folder / f"{name}.py").write_text("class Part:\n    pass\n" + "resizer = ArtResizer()\n" * 8)
    hits = ask(folder, "Which of the plugins use the ArtResizer class?")
    assert hits.counted is not None
    assert [one.path for one in hits.passages] == ["alpha.py", "beta.py"]


def test_what_is_left_of_a_folders_name_is_no_word_to_look_for(folder: Path) -> None:
    (folder / "공구상자").mkdir()
    (folder / "공구상자" / "wrench.md").write_text("# 렌치\n\n환경변수는 없다.\n")
    ask(folder, "공구상자에서 쓰는 파일 몇 개에 적혀 있지")
