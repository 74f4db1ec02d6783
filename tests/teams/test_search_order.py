"""In which order passages come: what answers before what asks, the reader's language first, steps as they follow."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hitl_tui.teams.search.index import SearchIndex
from hitl_tui.teams.search.passage_search import SearchHits, tongue
from hitl_tui.teams.search.search_report import NOTHING, make_report

QUESTION = "How long does the badger wait before it opens the burrow?"
PROSE = "The badger waits three minutes before it opens the burrow.\n"


def ask(root: Path, question: str) -> SearchHits:
    with SearchIndex(root.with_name("cache") / "search.db") as index:
        index.refresh(root)
        return index.query(question)


def found(root: Path, question: str = QUESTION) -> list[str]:
    return list(dict.fromkeys(passage.path for passage in ask(root, question).passages))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A program whose tests and pictures have the question word for word."""
    root = tmp_path / "project"
    texts = {
        "tests/test_badger.py": f'def test_badger():\n    assert ask("{QUESTION}")\n',
        "tests/pictures/scenes.py": f'QUESTION = "{QUESTION}"\n',
        "src/badger.py": "def badger_wait(burrow):\n    '''How long the badger waits before it opens the burrow.'''\n",
        "src/otter.py": "def otter():\n    pass\n",
        "src/weasel.py": "def weasel():\n    pass\n",
        "docs/animals.md": f"# Animals\n\n{PROSE}",
    }
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def test_what_answers_comes_before_what_asks_the_same(project: Path) -> None:
    assert set(found(project)[:2]) == {"docs/animals.md", "src/badger.py"}


def test_tests_and_pictures_are_searched_where_nothing_else_answers(project: Path) -> None:
    (project / "docs/animals.md").write_text("# Animals\n\nThere are otters.\n")
    (project / "src/badger.py").unlink()
    assert set(found(project)[:2]) == {"tests/test_badger.py", "tests/pictures/scenes.py"}


def test_a_question_about_code_is_searched_in_the_source_as_well(project: Path) -> None:
    assert found(project, "Where is the function badger_wait for the burrow?")[0] == "src/badger.py"


def test_a_question_about_tests_is_searched_in_the_tests_as_well(project: Path) -> None:
    assert "tests/test_badger.py" in found(project, "How is it tested how long the badger waits for the burrow?")


def test_a_file_that_is_named_comes_first_whatever_it_is(project: Path) -> None:
    assert found(project, "test_badger.py: how long does the badger wait?")[0] == "tests/test_badger.py"


def test_a_folder_of_documents_has_no_such_order(tmp_path: Path) -> None:
    root = tmp_path / "letters"
    texts = {
        "tests/blood.md": "Before it opens the burrow, the badger has to wait three minutes, as the blood test says.",
        "images/x-ray.txt": "On the picture a badger stands before its burrow.",
        "letter.md": "Dear Ann, our badger will be with you in spring.",
    }
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    assert found(root)[0] == "tests/blood.md"


@pytest.fixture
def lease(tmp_path: Path) -> Path:
    """The example has a summary in English; everything else there is Korean."""
    return Path(shutil.copytree(Path(__file__).parents[2] / "examples" / "lease", tmp_path / "lease"))


@pytest.mark.long
def test_a_passage_in_the_language_of_the_question_comes_before_one_that_answers_as_well(lease: Path) -> None:
    assert found(lease, "Who can I ask for mediation?")[0] == "summary-en.md"
    assert found(lease, "조정은 어디에 신청하나요?")[0] == "what-to-do.md"


RISE = "The landlord wants to raise my jeonse deposit from 300 million won to 1 billion won."


@pytest.mark.parametrize(
    ("question", "language"),
    [(f"{RISE} Is that allowed?", "en"), ("집주인이 전세금을 3억에서 10억으로 올려달래. 그래도 되나요?", "ko")],
)
def test_where_enough_is_found_in_the_language_of_the_question_nothing_else_is_shown(
    lease: Path, question: str, language: str
) -> None:
    passages = ask(lease, question).passages
    assert len(passages) > 3 and {tongue(passage) for passage in passages} == {language}


@pytest.mark.long
def test_where_too_little_is_found_another_language_fills_up_and_is_said_to_be_one(lease: Path) -> None:
    question = "Where do I apply for mediation of a dispute?"
    hits = ask(lease, question)
    tongues = [tongue(passage) for passage in hits.passages]
    assert tongues == sorted(tongues) and set(tongues) == {"en", "ko"} and len(tongues) == 3
    text = make_report(question, hits, {**NOTHING, "searched": 9}).text
    apart = [line for line in text.split("\n") if line.endswith("(in another language)")]
    assert [line.partition(":")[0] for line in apart] == [f"`{p.path}" for p in hits.passages if tongue(p) == "ko"]


@pytest.mark.parametrize(
    ("question", "places"),
    [
        (f"{RISE} How can I resolve this legally?", ["summary-en.md:44-50"]),
        ("What are the steps to resolve a dispute?", ["summary-en.md:44-50"]),
        (
            "집주인이 전세금 3억을 10억으로 올려달래. 법적으로 해결방법 알려줘",
            [f"what-to-do.md:{lines}" for lines in ("5-10", "14-17", "21-23", "27-28", "32-35")],
        ),
        ("What is the cap on a rise of the deposit?", []),
        ("보증금의 증액 상한은 얼마인가요?", []),
    ],
)
def test_a_section_that_tells_how_to_do_what_is_asked_is_told_as_a_whole(
    lease: Path, question: str, places: list[str]
) -> None:
    hits = ask(lease, question)
    assert [f"{p.path}:{p.line}-{p.end_line}" for p in hits.passages[: hits.whole]] == places
    others = {(p.path, line) for p in hits.passages[hits.whole :] for line in (p.line, p.end_line)}
    told = {(p.path, line) for p in hits.passages[: hits.whole] for line in range(p.line, p.end_line + 1)}
    assert not others & told
    text = make_report(question, hits, {**NOTHING, "searched": 9}).text
    if places:
        assert (
            "Housing Lease Dispute Mediation Committee" in text or "주택임대차분쟁조정위원회에 조정을 신청한다" in text
        )


STEPS = """# A tap that drips

Every tap is of brass.

## 1. Find the valve

It is below the sink.

## 2. Close the valve

Turn it to the right.

## 3. Change the washer

Take the one of 12 mm.

## History

Taps were invented long ago.
"""


@pytest.mark.parametrize("question", ["The tap drips. How do I repair it?", "My tap drips, what can I do?"])
def test_steps_are_told_in_their_order_whatever_says_most(tmp_path: Path, question: str) -> None:
    root = tmp_path / "house"
    root.mkdir()
    (root / "tap.md").write_text(STEPS)
    (root / "bread.md").write_text("# Bread\n\n500 g of rye flour.\n")
    hits = ask(root, question)
    assert [p.heading.rpartition(" > ")[2][:2] for p in hits.passages[: hits.whole]] == ["1.", "2.", "3."]
    (root / "tap.md").write_text(STEPS.replace("of 12 mm.", "of 12 mm. " * 400))
    assert ask(root, question).whole == 0, "what is too long is no answer"


def test_the_header_of_a_package_comes_after_prose_on_the_same(tmp_path: Path) -> None:
    fields = "\n".join(f"Classifier: Topic :: {n}" for n in range(8))
    header = f"Metadata-Version: 2.4\nName: oceanctl\nSummary: how long jobs are kept on the Ocean cluster\n{fields}\n"
    root = tmp_path / "project"
    root.mkdir()
    prose = "# Jobs\n\nOn the Ocean cluster, ended jobs stay for sixty days.\n"
    (root / "README.md").write_text(f"{header}\n{prose}", encoding="utf-8")
    assert "sixty days" in ask(root, "how long are jobs kept on the Ocean cluster?").passages[0].text
