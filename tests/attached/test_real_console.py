"""Every graph in the console, in a real terminal: answered by keyboard, killed within a node, restored, finished."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest
from real_cases import GRAPHS, Case, each_first
from real_support import Place
from terminal_support import CTRL_G, Terminal

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

SIZE = (120, 40)
F9, CTRL_U, CTRL_END = "\x1b[20~", "\x15", "\x1b[1;5F"
YES = {"approve": "1", "yes": "1", "no": "3"}


def console(place: Place, case: Case, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Open a console that attaches a case's graph, with what its nodes need in the environment."""
    for name in ("GRAPH_WORLD", "OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_API_KEY"):
        if name in place.environ:
            monkeypatch.setenv(name, place.environ[name])
    target = str(GRAPHS / case.target)
    return Terminal(place.data, SIZE, "attach", target, "--input", case.given, "--workspace", str(place.workspace))


def _on_screen(asked: str) -> str:
    """Return a pattern of what a question looks like on the screen: whether a call may run is its title alone."""
    call = re.fullmatch(r"May (\w+) run\?", asked)
    return rf"tool +{call[1]} " if call else re.escape(asked)


class Keyboard:
    """Answers a case's questions with keys alone, as the console shows them.

    Args:
        terminal: where.
        case: whose.
    """

    def __init__(self, terminal: Terminal, case: Case) -> None:
        self._terminal = terminal
        self.left = [(seen.split(" ", 1)[1] if seen.startswith(".") else seen, words) for seen, words in case.talk]

    def asked(self) -> tuple[str, str]:
        """Wait until one of the questions that are left is asked; return what was seen, and the words for it."""
        found: list[tuple[str, str]] = []

        def there() -> bool:
            _, *panel = re.split(r"[╭┏][━─] (?=[^\n]*\? )", self._terminal.text)
            found[:] = [item for item in self.left if panel and re.search(_on_screen(item[0]), panel[0])][:1]
            return bool(found)

        self._terminal.until(there, f"one of {self.left}")
        return found[0]

    def answer(self) -> None:
        """Answer the next question."""
        seen, words = self.asked()
        self.left.remove((seen, words))
        if not re.search(r"┏━ [^┓\n]*\? ", self._terminal.text):  # while questions remain, keys stay with them
            self._terminal.keys(CTRL_G)
        self._terminal.ready()
        self._press(words)

    def all(self) -> None:
        """Answer what is left."""
        while self.left:
            self.answer()

    def _press(self, words: str) -> None:
        action, _, rest = words.partition(" ")
        if words[0].isdigit() and action != words and rest.split()[0].isalpha():
            self._one_by_one(words)
        elif words in YES:
            self._terminal.keys(YES[words])
        elif action == "edit":
            self._terminal.keys("2")
            self._change(rest)
        else:
            self._terminal.keys("5")
            self._say(words)

    def _change(self, text: str) -> None:
        """Change fields of a form, or the text under review."""
        pairs = dict(pair.split("=", 1) for pair in text.split()) if "=" in text else {}
        if pairs:
            self._fill(pairs)
        else:
            self._say(text)

    def _fill(self, changes: Mapping[str, str]) -> None:
        terminal = self._terminal
        terminal.see("Will be sent", "Esc Back")
        form, _, _ = terminal.text.partition("Will be sent")
        names = re.findall(r"│ (\w+)  ", form.partition("Fill in ·" if "Fill in ·" in form else "Edit ·")[2])
        assert set(changes) <= set(names), (changes, names)
        for name in names:
            if name in changes:
                terminal.keys(CTRL_END + CTRL_U + changes[name])
                terminal.see(changes[name])
            terminal.keys("\t")
        self._rested()
        terminal.keys(F9)
        again = "ready now: press it again"
        terminal.until(lambda: "Will be sent" not in terminal.text or again in terminal.text, "that it was sent")
        if again in terminal.text:  # what will be sent was drawn meanwhile
            terminal.keys(F9)

    def _say(self, text: str) -> None:
        """Write a value, or the words that one of the options begins with."""
        terminal = self._terminal
        terminal.see("Esc Back")
        if f'Sends: the text "{text}"' not in terminal.text:
            terminal.keys(CTRL_END + CTRL_U + text)
        terminal.see(text)
        self._rested()
        terminal.keys("\r" if re.search(r"\bEnter \S.*Ctrl\+E Editor", terminal.text) else F9)

    def _rested(self) -> None:
        """Wait until the dialog says that what sends counts."""
        self._terminal.see_one(" ready ─╯", "a digit sends its option ─╯", "F9 sends ─╯")

    def _one_by_one(self, words: str) -> None:
        """Decide the calls of a batch one after the other; `1 reject why 2 edit a=b`."""
        terminal, parts = self._terminal, re.split(r"\s*\b\d\s+(?=approve|reject|edit)", words)[1:]
        terminal.keys("2")
        for number, part in enumerate(parts, start=1):
            terminal.see(f"Call {number} of {len(parts)}", " ready ─╯")
            action, _, rest = part.partition(" ")
            terminal.keys({"approve": "1", "edit": "2", "reject": "3"}[action])
            if action == "reject":
                terminal.see("Esc Back")
                terminal.keys(rest)
                terminal.see(rest)
                self._rested()
                terminal.keys("\r")
            elif action == "edit":
                self._fill(dict(pair.split("=", 1) for pair in rest.split()))
        terminal.see("Review ·", " ready ─╯")
        terminal.keys("1")


def stands_at(place: Place) -> str:
    """Return the checkpoint that the graph's own thread stands at."""
    (path,) = (place.data / "sessions").glob("*/checkpoints.db")
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        (found,) = database.execute(
            "SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id LIKE '%/todo_001/%' AND checkpoint_ns = ''"
        ).fetchone()
    return str(found)


def kill_within(terminal: Terminal, gate: Path) -> None:
    """Kill the console while a node waits at a gate."""
    opened: list[int] = []

    def at_work() -> bool:
        try:
            opened.append(os.open(gate, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:  # nobody reads yet
            return False
        return True

    terminal.until(at_work, f"a node at {gate.name}")
    terminal.kill()
    os.close(opened[0])
    gate.unlink()


def more(after: Mapping[str, int], before: Mapping[str, int]) -> dict[str, int]:
    """Return what was done since."""
    return {what: n - before.get(what, 0) for what, n in after.items() if n != before.get(what, 0)}


@pytest.mark.sampled(4)
@each_first()
def test_a_graph_is_answered_by_keyboard_killed_within_a_node_restored_and_finished(
    ready: Place, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    with console(ready, case, monkeypatch) as terminal:
        keyboard = Keyboard(terminal, case)
        keyboard.asked()
        first, step = ready.done(), stands_at(ready)
        while len(keyboard.left) > 1:
            keyboard.answer()
        keyboard.asked()
        gate = ready.hold("act")
        keyboard.answer()
        kill_within(terminal, gate)
    killed = ready.done()
    with Terminal(ready.data, SIZE) as terminal:
        terminal.see("6 Details", "nothing says how far it got")
        assert ready.done() == killed
        terminal.send(f"/checkpoint restore {step}")
        terminal.see("Continue from a step of", " ready ─╯")
        terminal.keys("1")
        terminal.see("Approve", "restarts from its top")
        assert ready.done() == killed
        terminal.decide("1", "restarts from its top")
        terminal.see("happen?")
        assert ready.done() == killed  # what was cut off is asked about before anything is done again
        terminal.decide("5", "happen?")
        terminal.see("although it may have happened already?", " ready ─╯")
        terminal.keys("1")
        keyboard = Keyboard(terminal, case)
        keyboard.asked()
        # What was finished before that step isn't done again; what was within it is.
        back = ready.done()
        assert more(back, killed) == dict.fromkeys(case.within, 1)
        keyboard.all()
        terminal.see("✓ finished")
        assert terminal.leave() == 0
    assert more(ready.done(), back) == more(case.done, first)


def test_the_documentation_s_first_line_begins_it(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPH_WORLD", str(place.world))
    graph = str(Path(GRAPHS) / "review.py")
    with Terminal(place.data, SIZE, "attach", graph, "--workspace", str(place.workspace)) as terminal:
        terminal.see("Give review its input", "Nothing runs until you approve it")
        terminal.send("cats")
        terminal.decide("1", "Approve 001?")
        terminal.decide("1", "Answer 001?", "Review and edit this content")
        terminal.see("✓ finished")
        assert terminal.leave() == 0
    assert place.done() == {"drafted": 1, "published A first draft about cats.": 1}
