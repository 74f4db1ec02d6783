"""A question that names a document: it is searched first, its name is no word, and a weak match is called one."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from hitl_tui.core.written_language import language_of
from hitl_tui.teams.search.index import SearchIndex
from hitl_tui.teams.search.passage_search import SearchHits

LEASE = "# Lease\n\nThe rent may be raised by at most 5 percent.\n\nThe tenant waters the plants.\n"
OTHER = "# Other\n\nThe largest elephant pays no rent, and its rent increase is nothing.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "documents"
    (root / "docs").mkdir(parents=True)
    (root / "docs" / "lease.md").write_text(LEASE)
    (root / "docs" / "other.md").write_text(OTHER)
    return root


def ask(root: Path, question: str) -> SearchHits:
    with SearchIndex(root.parent / "cache.db") as index:
        index.refresh(root)
        return index.query(question)


@pytest.mark.parametrize(
    "question",
    [
        "What is the largest rent increase allowed according to docs/lease.md?",
        "According to LEASE.md, what is the largest rent increase?",
        "docs/lease.md에 따르면 임대료를 얼마까지 올릴 수 있어?",
    ],
)
def test_the_named_document_comes_first(folder: Path, question: str) -> None:
    hits = ask(folder, question)
    assert (hits.passages[0].path, hits.passages[0].line) == ("docs/lease.md", 3)
    assert not {"docs", "lease", "md"} & {word.casefold() for word in hits.missing}


def test_a_named_document_that_does_not_answer_gives_nothing(folder: Path) -> None:
    hits = ask(folder, "Which penguins, zebras and giraffes raised the tenant of docs/lease.md?")
    assert hits.passages == ()
    assert set(hits.missing) == {"penguins", "zebras", "giraffes"}


def test_what_is_not_in_the_named_document_is_looked_for_in_the_others(folder: Path) -> None:
    (folder / "docs" / "deposits.md").write_text("# Deposits\n\nThe surveyor keeps zebras in the paddock.\n")
    hits = ask(folder, "Does docs/lease.md say where the surveyor keeps zebras?")
    assert [passage.path for passage in hits.passages] == ["docs/deposits.md"]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize(
    ("name", "said"), [("Überblick.md", "überblick.md"), ("École.md", "École.md"), ("보고서.md", "보고서.md")]
)
def test_a_name_is_found_in_any_case_and_however_it_is_composed(folder: Path, name: str, said: str, form: str) -> None:
    (folder / unicodedata.normalize(form, name)).write_text("# Notes\n\nThe elephant waters the largest plants.\n")
    for asked in (said, unicodedata.normalize("NFD", said)):
        hits = ask(folder, f"What does {asked} say about the plants?")
        assert [unicodedata.normalize("NFC", passage.path) for passage in hits.passages] == [name]
        assert hits.missing == ()


def test_a_question_that_is_pasted_decomposed_is_korean(folder: Path) -> None:
    (folder / "보고서.md").write_text("# 회의\n\n다음 회의는 수요일 오전 열 시에 본관에서 열린다.\n")
    question = unicodedata.normalize("NFD", "보고서.md에 따르면 다음 회의는 언제야?")
    assert language_of(question) == "ko"
    assert ask(folder, question) == ask(folder, unicodedata.normalize("NFC", question))


def test_what_is_left_out_stays_out_where_the_named_document_says_nothing(folder: Path) -> None:
    (folder / "docs" / "pets.md").write_text(
        "# Pets\n\nAll pets allowed:\n\n- zebras\n- lynxes\n- otters\n- deprecated newts\n"
    )
    hits = ask(folder, "Which of all pets allowed does docs/lease.md list, except deprecated ones?")
    assert [(one.path, one.items, one.of) for one in hits.passages if one.of] == [("docs/pets.md", 3, 4)]


def test_the_same_question_without_the_name_finds_nothing(folder: Path) -> None:
    hits = ask(folder, "Which penguins, zebras and giraffes raised the tenant?")
    assert (hits.passages, hits.weak) == ((), False)


def test_none_of_the_words_is_still_nothing(folder: Path) -> None:
    hits = ask(folder, "What does docs/lease.md say about volcanoes?")
    assert (hits.passages, hits.missing) == ((), ("volcanoes",))


@pytest.mark.parametrize("question", ["docs/lease.md", "What does docs/lease.md say?"])
def test_a_name_alone_shows_how_the_document_begins(folder: Path, question: str) -> None:
    hits = ask(folder, question)
    assert hits.weak
    assert [(p.path, p.line) for p in hits.passages] == [("docs/lease.md", 3)]


def test_a_name_that_no_document_has_stays_words(folder: Path) -> None:
    assert ask(folder, "rent in missing.md").missing == ("md",)
