"""A passage that asks a question word for word comes after those that answer it, whatever kind of file has them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hitl_tui.teams.search.index import SearchIndex

QUESTION = "How long does the badger wait before it opens the burrow?"
PROSE = "The badger waits three minutes before it opens the burrow.\n"


def found(root: Path, question: str = QUESTION) -> list[str]:
    with SearchIndex(root.with_name("cache") / "search.db") as index:
        index.refresh(root)
        return list(dict.fromkeys(passage.path for passage in index.query(question).passages))


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
        "images/x-ray.txt": "How long does a badger wait before opening a burrow? On the picture it is an hour.",
        "letter.md": "Dear Ann, our badger will wait for you a long time before it opens its burrow in spring.",
    }
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    assert set(found(root)) == set(texts)


def test_a_passage_in_the_language_of_the_question_comes_before_one_that_answers_as_well(tmp_path: Path) -> None:
    """The example has a file called mediation, in Korean, and a summary in English."""
    root = tmp_path / "lease"
    shutil.copytree(Path(__file__).parents[2] / "examples" / "lease", root)
    assert found(root, "Who can I ask for mediation?")[0] == "summary-en.md"
    assert found(root, "조정은 어디에 신청하나요?")[0] == "what-to-do.md"
    (root / "summary-en.md").unlink()
    assert found(root, "Who can I ask for mediation?")[0] == "mediation.md"
