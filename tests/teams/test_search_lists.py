"""Questions for all of something: the list that has it is quoted whole, with how many items it has."""

from __future__ import annotations

from pathlib import Path

import pytest

from hitl_tui.teams.search.index import SearchIndex
from hitl_tui.teams.search.passage_search import SearchHits
from hitl_tui.teams.search.search_report import NOTHING, make_report

SERVER = """# Server

Some notes on the server and where it keeps what.

## Configless mode

The node asks for its files when it starts, and keeps them in memory until it ends. It asks again after a reconfigure.

Supported configuration files are:

{files}

Other files have to be copied to each node by hand.

## Limits

- At most 64 nodes start at once.
- A job takes at most 7 days.
"""
FILES = ["slurm", "gres", "cgroup", "mpi", "oci", "helpers", "topology", "plugstack", "job_container", "acct_gather"]
PROGRAMS = """Included programs
=================

A few programs come with the kit, to be called from a command line.

kit-ports
---------

Tells which ports there are.

kit-play
--------

Plays a file. It takes the name of a port as its second argument.

kit-serve
---------

Serves a port to others in the network.
"""
COLOURS = "0 0 0 Black\n255 255 255 White\n255 0 0 Red\n0 0 255 Blue\n0 128 0 Green\n"
CLUB = """Those named below agreed to the rules of the river club on the day beside their name. They will keep them.

Members
-------

- Ann, 2011

- Bo, 2012

- Cy, 2013
"""
HANDBOOK = """<h1>Handbook of boats</h1><p>All on boats.</p>
<ul><li>1. Hulls</li><li>1.1. Wood</li><li>1.2. Steel</li><li>2. Sails</li><li>2.1. Cloth</li></ul><p>Index</p>"""
RADIO = """# Reference

## Needs

-   A battery of 12 volts
-   Supported harbours:
    -   Bergen
    -   Oban
    -   Turku

## Sound

{sound}
"""
SIZES = """<page xmlns="http://projectmallard.org/1.0/"><title>게임 판의 크기 바꾸기</title>
<p>프로그램을 시작할 때 게임판 크기를 선택할 수 있습니다.</p>
<list>
<item><p>10개 지뢰가 숨겨진 8 x 8 크기의 게임판</p></item>
<item><p>40개 지뢰가 숨겨진 16 x 16 크기의 게임판</p></item>
<item><title>큰 판</title><p>99개 지뢰가 숨겨진 30 x 16 크기의 게임판</p></item>
</list></page>
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    made.mkdir()
    (made / "server.md").write_text(SERVER.format(files="\n".join(f"- {name}.conf" for name in FILES)))
    (made / "programs.rst").write_text(PROGRAMS)
    (made / "radio").mkdir()
    sound = "\n\n".join(f"The boat radio works in weather {n}; turn it on in the harbour." for n in range(12))
    (made / "radio" / "README.md").write_text(RADIO.format(sound=sound))
    (made / "club.txt").write_text(CLUB)
    (made / "handbook.html").write_text(HANDBOOK)
    (made / "colours.txt").write_text(COLOURS)
    (made / "board-size.html").write_text(SIZES)
    return made


def ask(folder: Path, question: str) -> SearchHits:
    with SearchIndex(folder.parent / "cache.db") as index:
        index.refresh(folder)
        return index.query(question)


@pytest.mark.parametrize(
    ("question", "path", "items"),
    [
        ("How many configuration files are supported in configless mode?", "server.md", 10),
        ("configless 모드에서 지원되는 설정 파일이 전부 몇 개야?", "server.md", 10),
        ("Which command line programs come with the kit?", "programs.rst", 3),
        ("How many colours are in colours.txt?", "colours.txt", 5),
        ("How many members have agreed to the rules of the river club?", "club.txt", 3),
        ("How many chapters does the handbook of boats have?", "handbook.html", 2),
        ("Which harbours does the boat radio work in?", "radio/README.md", 3),
        ("게임 판의 크기는 어떤 것들이 있나요?", "board-size.html", 3),
    ],
)
def test_a_list_is_quoted_whole(folder: Path, question: str, path: str, items: int) -> None:
    hits = ask(folder, question)
    listed = hits.passages[hits.items_at]

    assert (listed.path, hits.items) == (path, items)
    assert len(listed.text.splitlines()) >= items


def test_the_answer_tells_how_many_items_there_are_and_quotes_each(folder: Path) -> None:
    question = "How many configuration files are supported in configless mode?"
    text = make_report(question, ask(folder, question), NOTHING).text

    assert "10 items" in text
    assert all(f"{name}.conf" in text for name in FILES)


@pytest.mark.parametrize(
    "question",
    ["How many nodes may start at most?", "How long may a job take?", "When does a node ask for its files again?"],
)
def test_no_list_answers_a_question_for_one_thing(folder: Path, question: str) -> None:
    assert ask(folder, question).items == 0


def test_no_more_passages_are_given_for_a_list_than_are_wanted(folder: Path) -> None:
    with SearchIndex(folder.parent / "cache.db") as index:
        index.refresh(folder)
        hits = index.query("Which command line programs come with the kit?", 1)

    assert len(hits.passages) == 1
    assert hits.items in (0, 3)
    assert bool(hits.items) == hits.passages[0].text.startswith("- kit-ports")
