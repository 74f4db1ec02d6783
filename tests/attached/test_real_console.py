"""Graphs attached in the console and answered by keyboard, in a real terminal; one killed in the middle."""

from __future__ import annotations

from pathlib import Path

import pytest
from real_cases import GRAPHS, Case, each
from real_support import Place
from terminal_support import Terminal

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

SIZE = (120, 40)
CTRL_S, CTRL_END = "\x13", "\x1b[1;5F"


def console(place: Place, case: Case, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Open a console that attaches a case's graph, with what its nodes need in the environment."""
    for name in ("GRAPH_WORLD", "OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_API_KEY"):
        if name in place.environ:
            monkeypatch.setenv(name, place.environ[name])
    target = str(GRAPHS / case.target)
    return Terminal(place.data, SIZE, "attach", target, "--input", case.given, "--workspace", str(place.workspace))


def fill(terminal: Terminal, key: str, text: str, *question: str) -> None:
    """Choose an action of a question, write at the end of what its dialog holds, and send it."""
    terminal.decide(key, *question)
    write(terminal, text)


def write(terminal: Terminal, text: str) -> None:
    """Write at the end of what a dialog holds, and send it."""
    terminal.see("Esc Back")
    send = CTRL_S if "Ctrl+S" in terminal.text else "\r"
    terminal.keys(CTRL_END + text)
    terminal.see(f'{text}"')
    terminal.keys(send)


@each("approve", "email_tool", "deep", "chief")
def test_yes_by_keyboard(ready: Place, case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    with console(ready, case, monkeypatch) as terminal:
        for seen, _ in case.talk:
            terminal.decide("1", seen)
        terminal.see("✓ finished")
        assert terminal.leave() == 0
    done = ready.done()
    assert len(done) == len(case.done)
    assert set(done.values()) == {1}


@each("approve")
def test_no_by_keyboard(ready: Place, case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    with console(ready, case, monkeypatch) as terminal:
        terminal.decide("3", case.talk[0][0])
        terminal.see("✓ finished")
        assert terminal.leave() == 0
    assert ready.done() == {"prepared pay": 1}


@each("discussion")
def test_what_is_edited_is_sent_and_a_kill_in_the_middle_loses_nothing(
    ready: Place, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    with console(ready, case, monkeypatch) as terminal:
        terminal.decide("1", "Round 1")
        terminal.see("QUESTION", "Round 2")
        before = ready.done()
        terminal.kill()
    with Terminal(ready.data, SIZE) as terminal:
        fill(terminal, "2", " agreed", "Round 2")
        terminal.see("two needs an example")
        assert {k: n for k, n in ready.done().items() if k in before and k != "wrote one"}.items() <= before.items()
        fill(terminal, "2", " agreed", "Round 1")
        terminal.see("✓ finished")
        assert terminal.leave() == 0
    assert ready.done() == case.done


@each("subgraph_node")
def test_an_option_is_chosen_by_keyboard(ready: Place, case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    with console(ready, case, monkeypatch) as terminal:
        terminal.decide("5", case.talk[0][0])
        terminal.see("Esc Back", 'Sends: the text "reserve"')
        terminal.keys(CTRL_S)
        terminal.see("✓ finished")
        assert terminal.leave() == 0
    assert ready.done() == case.done


@each("parallel")
def test_two_questions_at_once_are_answered_in_words(ready: Place, case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    with console(ready, case, monkeypatch) as terminal:
        terminal.decide("5", "QUESTION 1 of 2", "question_a")
        write(terminal, "ay")
        terminal.see("QUESTION · 001", "question_b")
        terminal.ready()  # while questions remain, keys stay with them
        terminal.keys("5")
        write(terminal, "bee")
        terminal.see("✓ finished")
        assert terminal.leave() == 0
    assert ready.done() == case.done


def test_the_documentation_s_first_line_begins_it(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPH_WORLD", str(place.world))
    graph = str(Path(GRAPHS) / "review.py")
    with Terminal(place.data, SIZE, "attach", graph, "--workspace", str(place.workspace)) as terminal:
        terminal.see("Give review its input", "nothing runs until you say so")
        terminal.send("cats")
        terminal.decide("1", "QUESTION · 001")
        terminal.decide("1", "Review and edit this content")
        terminal.see("✓ finished")
        assert terminal.leave() == 0
    assert place.done() == {"drafted": 1, "published A first draft about cats.": 1}
