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
SETTINGS = """# What the harbour lights do.
lights:
  # colour can be amber, white, green, or off.  Defaults to white.
  colour: white

# Boats that may pass the lock at night
night_boats:
  - heron
  - otter
  - swift
  - wren

crew:
  ann:
    rank: mate
  bo:
    rank: cook
  cy:
    rank: mate
"""
FEASTS = """# Feasts that the crew keeps
REM Jan 1   MSG New year
REM May 1   MSG Labour day
REM Aug 15  MSG Harvest
REM Dec 25  MSG Midwinter
"""
ENGINES = """Engines
=======

| Engine | Fuel | Power |
| --- | --- | --- |
| Otto | petrol | 40 |
| Diesel | oil | 60 |
| Stirling | heat | 20 |
"""
ROPE = """Usage: splice [options] ROPE

Splice options:
  -k, --knot     which knot
  --length       of the splice
  -v, --verbose  say more
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
    (made / "settings.yml").write_text(SETTINGS)
    (made / "feasts.rem").write_text(FEASTS)
    (made / "engines.md").write_text(ENGINES)
    (made / "splice.txt").write_text(ROPE)
    (made / "signal-flags").mkdir()
    for name in ("alpha", "bravo", "charlie"):
        (made / "signal-flags" / f"{name}.dat").write_text("0 1 1 0\n")
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
        ("Which values can the colour of the harbour lights take?", "settings.yml", 4),
        ("night_boats에 배가 몇 개 있나요?", "settings.yml", 4),
        ("How many feasts does the crew keep?", "feasts.rem", 4),
        ("엔진이 몇 가지 있나요?", "engines.md", 3),
        ("how many splice options are there?", "splice.txt", 3),
        ("How many signal flags are there?", "signal-flags/alpha.dat", 3),
    ],
)
def test_a_list_is_quoted_whole(folder: Path, question: str, path: str, items: int) -> None:
    hits = ask(folder, question)
    listed = next(one for one in hits.passages if one.items)

    assert (listed.path, listed.items) == (path, items)
    assert len(listed.text.split()) >= items


def test_the_answer_tells_how_many_items_there_are_and_quotes_each(folder: Path) -> None:
    question = "How many configuration files are supported in configless mode?"
    text = make_report(question, ask(folder, question), NOTHING).text

    assert "10 items" in text
    assert all(f"{name}.conf" in text for name in FILES)


def test_of_a_list_the_items_are_counted_that_a_question_names(folder: Path) -> None:
    question = "Which crew members have the rank mate in settings.yml?"
    hits = ask(folder, question)

    assert [(one.items, one.of) for one in hits.passages if one.items][:1] == [(2, 3)]
    assert "2 items of 3" in make_report(question, hits, NOTHING).text


@pytest.mark.parametrize(
    "question",
    [
        "How many nodes may start at most?",
        "How many hours may a job take?",
        "How long may a job take?",
        "When does a node ask for its files again?",
    ],
)
def test_no_list_answers_a_question_for_one_thing(folder: Path, question: str) -> None:
    assert not any(one.items for one in ask(folder, question).passages)


def test_no_more_passages_are_given_for_a_list_than_are_wanted(folder: Path) -> None:
    with SearchIndex(folder.parent / "cache.db") as index:
        index.refresh(folder)
        hits = index.query("Which command line programs come with the kit?", 1)

    assert len(hits.passages) == 1
    assert hits.passages[0].items in (0, 3)


INCIDENT = """# Incident of 3 September 2026

The payment service was away for 42 minutes.

## Cause

The pool of connections was set to 10 after the migration.

## Actions

- TODO: raise the pool of connections to 50 (Kim)
- TODO: add an alert where the pool runs out (Lee)
"""


@pytest.mark.parametrize(
    "question",
    [
        "List the TODOs of the incident of 3 September",
        "Summarize the incident of 3 September and list the open actions",
        "list the open actions of the incident",
        "9월 3일 장애의 TODO를 모두 알려줘",
    ],
)
def test_what_stands_below_one_heading_is_listed_rather_than_the_headings(tmp_path: Path, question: str) -> None:
    made = tmp_path / "docs"
    made.mkdir()
    (made / "incident-2026-09-03.md").write_text(INCIDENT, encoding="utf-8")
    (made / "orders.csv").write_text("id,product,quantity\n1,Widget,10\n2,Gadget,3\n", encoding="utf-8")
    listed = [one for one in ask(made, question).passages if one.items]

    assert [one.line for one in listed] == [11]
    assert "raise the pool" in listed[0].text
