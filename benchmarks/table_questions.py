"""How many questions about tables are answered right where the tables are asked directly, without planner or search.

    python -m benchmarks.table_questions FOLDER [--first abc]

FOLDER has the folders of each set below the set's name, as `question_sets.py` makes them. Each line of
`benchmarks/questions/tables.jsonl` is a question about a table in one of these folders, with SQL that answers it, by
people who had seen the folders and nothing of the code; one in five has no answer there. `--first` takes those whose
ids begin with one of these letters.

A question is asked twice: of its folder, where its table has to be chosen first, and of its table alone.

    right     the first line says what is expected
    wrong     it says something else, or something where the folder has no answer
    no rows   the query that was read has no rows, or can't be run
    unsure    nothing was asked, as it isn't clear what is meant; its first reading is asked of a table alone
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import common
from benchmarks.answers import headline
from benchmarks.question_sets import holds
from hitl_tui.tables.ask import Answer, ask, named_files, run
from hitl_tui.tables.engine import TableError
from hitl_tui.tables.files import TableFile, table_files
from hitl_tui.tables.mapping import Reader
from hitl_tui.tables.profile import profiles
from hitl_tui.teams.analysis.table_answer import brief

_QUESTIONS = Path(__file__).with_name("questions") / "tables.jsonl"
RIGHT, WRONG, NO_ROWS, UNSURE = "right", "wrong", "no rows", "unsure"
_GRADES = (RIGHT, WRONG, NO_ROWS, UNSURE)
_TABLE, _NONE = "has an answer", "has none"


def graded(answer: Answer, language: str, expected: Sequence[Sequence[str]]) -> str:
    """Return what an answer is worth."""
    if answer.mapped is None or (answer.result is None and answer.why):
        return UNSURE
    said = headline(brief(answer, language).answer)
    if not said:
        return NO_ROWS
    return RIGHT if expected and all(holds(said, tuple(group)) for group in expected) else WRONG


def of_folder(question: str, files: Sequence[TableFile]) -> Answer:
    """Return what comes of a question to a folder; no answer where it can't be run."""
    try:
        return ask(question, files)
    except TableError:
        return Answer(why="unread")


def of_table(question: str, files: Sequence[TableFile], path: str) -> Answer:
    """Return what comes of the first reading of a question in its table; no answer where that can't be run."""
    named = bool(named_files(question, files)[0])
    tables = profiles([file for file in files if file.path == path]).tables
    read = [one for table in tables for one in Reader(question, table, named, by_meaning=True).read()[:1]]
    try:
        return run(Answer(max(read, key=lambda one: one.score))) if read else Answer(why="none")
    except TableError:
        return Answer(why="unread")


def questions(first: str) -> Iterator[dict[str, Any]]:
    """Yield the questions whose ids begin with one of some letters; all for none."""
    for line in _QUESTIONS.read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        if not first or one["id"][0] in first:
            yield one


def main() -> None:
    """Ask, and print what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--first", default="", help="letters that the ids of questions begin with")
    arguments = parser.parse_args()
    print(common.machine())
    asked: dict[str, Counter[str]] = {name: Counter() for name in (_TABLE, _NONE)}
    alone, known = Counter[str](), dict[str, list[TableFile]]()
    for one in questions(arguments.first):
        files = known.setdefault(one["folder"], list(table_files(arguments.folder / one["folder"])))
        expected = one["expect"].get("any", [])
        asked[_TABLE if expected else _NONE][graded(of_folder(one["question"], files), one["language"], expected)] += 1
        if expected:
            alone[graded(of_table(one["question"], files, one["table"]), one["language"], expected)] += 1
    rows = [("of its folder, which " + name, counted) for name, counted in asked.items()]
    rows.append(("of its table, the first reading", alone))
    common.show(
        "Questions about tables",
        ["asked", "questions", *_GRADES, "right %", "wrong %"],
        [
            [
                name,
                *map(str, (sum(n.values()), *(n[one] for one in _GRADES), *(percent(n, of) for of in (RIGHT, WRONG)))),
            ]
            for name, n in rows
        ],
    )


def percent(counted: Counter[str], grade: str) -> int:
    """Return a grade's share in per cent."""
    return round(100 * counted[grade] / max(1, sum(counted.values())))


if __name__ == "__main__":
    main()
