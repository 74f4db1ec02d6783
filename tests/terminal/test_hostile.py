"""Hostile content in a real terminal: what documents, names, commands, questions and settings say moves nothing (C10).

The bytes that reach the terminal are looked at, not only the picture: what isn't ours must not be among them.
"""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from terminal_support import CTRL_G, EXAMPLE, F6, PAGE_DOWN, ROOT, Terminal
from trusting import trust_workspace

pytestmark = pytest.mark.long

ESCAPES = (
    "\x1b[2J\x1b[31m\x1b]0;pwned\x07\x1b]8;;http://evil\x1b\\link\x1b]52;c;cHduZWQ=\x07\x1bPq#0\x1b\\\x9b2J\x9d0;x\x9c"
)
REORDERING = "\u202ereversed\u2066isolated\u200bzero\u2028line\ufeff\U000e0041tag"
MARKUP = "[@click=app.quit]x[/] [/ [bold red]loud [link=http://evil]l[/link]"
HOSTILE = f"{ESCAPES}{REORDERING} {MARKUP}"
F1, F3, ESC, CTRL_P = "\x1bOP", "\x1bOR", "\x1b", "\x10"

# What Textual and we send: modes, cursor, colours; titles and the pointer's shape; never a device control string.
_OSC = re.compile(r"\x1b\](.*?)(?:\x07|\x1b\\)", re.DOTALL)
_OUR_OSC = re.compile(r"2;(\(\d+\) )?hitl-tui( s\d+)?|22;[a-z-]+")
_FORBIDDEN = re.compile(
    "\x1bP|\x1b_|\x1b\\^|\x1bX|[\x80-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\U000e0000-\U000e0fff]"
)
_ERASES = re.compile(r"\x1b\[[0-3]?[JK]")


class Watched(Terminal):
    """A terminal that keeps all that the console wrote."""

    def __init__(self, data: Path, size: tuple[int, int], *arguments: str) -> None:
        super().__init__(data, size, *arguments)
        self._raw = io.StringIO()
        self._child.logfile_read = self._raw

    def __enter__(self) -> Watched:
        return self

    @property
    def raw(self) -> str:
        """Everything so far."""
        return self._raw.getvalue()

    def resize(self, columns: int, rows: int) -> None:
        self._child.setwinsize(rows, columns)
        self.screen.resize(rows, columns)

    def rest(self) -> None:
        """Take in what comes until nothing does."""
        while not self._read():
            pass

    def harmless(self) -> None:
        """See that nothing but our own sequences reached the terminal."""
        self.rest()
        raw = self.raw
        osc = _OSC.findall(raw)
        assert [found for found in osc if not _OUR_OSC.fullmatch(found)] == []
        assert len(osc) == raw.count("\x1b]")
        assert raw.count("\x07") == len(re.findall(r"\x1b\][^\x07\x1b]*\x07", raw)), "a bell"
        found = _FORBIDDEN.search(raw)
        assert found is None, repr(raw[max(0, found.start() - 80) : found.end() + 80])
        assert not _ERASES.search(raw)
        assert "31mred" not in raw
        assert not {"pwned", "file", "evil"} & set(re.findall(r"\w+", self.screen.title + self.screen.icon_name))


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "cap.md").write_text(
        f"# Rise cap {HOSTILE}\n\nThe deposit cap is 5 percent. {HOSTILE}\n", encoding="utf-8"
    )
    entities = (
        "&#x202e;entity &#27;[2J <b onclick=x>html</b> <!-- note --> [bank](http://evil.example) ![i](http://e/x)"
    )
    (folder / "entities.md").write_text(
        f"# Entities\n\nThe deposit cap again, 5 percent: {entities}\n", encoding="utf-8"
    )
    (folder / "long.md").write_text(f"# Long\n\nThe deposit cap {'A' * 1_000_000}\n", encoding="utf-8")
    name = "e\x1b]0;file\x07\u202e[@click=app.quit]x[.md"
    (folder / name).write_text("# File\n\nThe deposit cap of a strange file is 7 percent.\n", encoding="utf-8")
    said = "".join(f"\\U{ord(c):08X}" for c in f"Show the file {HOSTILE}")
    (folder / "hitl.toml").write_text(
        f'[teams.command_team.commands.show]\ndescription = "{said}"\n'
        f'run = ["cat", "cap.md"]\npreview = ["cat", "cap.md"]\nrisk = "high"\n',
        encoding="utf-8",
    )
    trust_workspace(tmp_path / "data", folder)
    return folder


@pytest.mark.sampled(1)
@pytest.mark.long
@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
def test_nothing_hostile_reaches_the_terminal(tmp_path: Path, workspace: Path, size: tuple[int, int]) -> None:
    query = f"What is the deposit cap? {REORDERING.replace(chr(0x2028), '')} {MARKUP}"
    with Watched(tmp_path / "data", size, "--workspace", str(workspace), query) as terminal:
        terminal.see("Approve 001?", "⟨U+202E⟩")
        terminal.decide("1", "Approve 001?")
        terminal.see("✓ finished")
        terminal.see("cap.md:3", "␛[2J")
        for key in (F6, F6, F6, F1, ESC, F3, ESC, CTRL_P, ESC, ESC):
            terminal.keys(key)
            terminal.rest()
        terminal.send("/todo add command_team show")
        terminal.see("Approve 002?", "␛")
        terminal.keys(CTRL_G)
        terminal.rest()
        terminal.keys("6")
        terminal.see("Question · 002")
        for _ in range(4):
            terminal.keys(PAGE_DOWN)
            terminal.rest()
        terminal.keys(ESC)
        terminal.see("Approve 002?")
        terminal.ready()
        terminal.keys("1")
        terminal.see("✓ finished")
        terminal.send("/todo show 2")
        terminal.see("Step 002")
        for _ in range(4):
            terminal.keys(PAGE_DOWN)
            terminal.rest()
        terminal.keys(ESC)
        terminal.see("Enter send")
        terminal.send(f"/nonsense {MARKUP}")
        terminal.see("error:")
        terminal.harmless()
        assert terminal.leave() == 0
        assert terminal.raw.count("\x1b[22;2t") == 1  # the title is given back as it was
        assert "\x1b[23;2t" in terminal.raw
    for log in (tmp_path / "data").glob("*.log"):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u2066]", log.read_text(encoding="utf-8"))


def test_entities_links_and_html_of_an_answer_stay_text(tmp_path: Path, workspace: Path) -> None:
    (workspace / "cap.md").unlink()
    (workspace / "long.md").unlink()
    with Watched(tmp_path / "data", (120, 40), "--workspace", str(workspace), "deposit cap again entities") as terminal:
        terminal.decide("1", "Approve 001?")
        terminal.see(
            "✓ finished", "entities.md:3", "&#x202e;entity", "<b onclick=x>html</b>", "[bank](http://evil.example)"
        )
        terminal.harmless()


def test_a_paste_and_a_copied_screen_are_harmless(tmp_path: Path) -> None:
    with Watched(tmp_path, (100, 30), "--workspace", str(EXAMPLE)) as terminal:
        terminal.see("Begin with")
        terminal.keys(f"\x1b[200~pasted {ESCAPES.replace(chr(27), '')}{REORDERING}\x1b[201~")
        terminal.see("pasted")
        terminal.harmless()


def test_words_typed_fast_after_the_slash_are_all_looked_for(tmp_path: Path) -> None:
    with Watched(tmp_path, (100, 32), "--workspace", str(EXAMPLE), "How high may the deposit rise be?") as terminal:
        terminal.see("Approve 001?")
        for _ in range(3):
            terminal.keys(F6)
            terminal.rest()
        terminal.keys("/documents")
        terminal.see("/documents", "1 of 1")


@pytest.mark.long
@pytest.mark.parametrize(
    ("size", "first"),
    [pytest.param((40, 12), "6 Details", marks=pytest.mark.slow), ((20, 5), "Approve 001?")],
    ids=["40x12", "20x5"],
)
def test_a_narrow_terminal_can_be_worked_in(tmp_path: Path, size: tuple[int, int], first: str) -> None:
    with Watched(tmp_path, size, "--workspace", str(EXAMPLE), "How high may the deposit rise be?") as terminal:
        terminal.see(first)
        terminal.keys(CTRL_G)
        terminal.see("1 Approve")
        for key in (F1, ESC, F6, F6, F6, F3, ESC, CTRL_P, ESC):
            terminal.keys(key)
            terminal.rest()
        terminal.harmless()
        assert terminal.leave() == 0


def test_a_storm_of_sizes_is_survived(tmp_path: Path) -> None:
    with Watched(tmp_path, (120, 40), "--workspace", str(EXAMPLE), "How high may the deposit rise be?") as terminal:
        terminal.see("Approve 001?")
        for step in range(60):
            terminal.resize(10 + step * 37 % 150, 3 + step * 17 % 45)
        terminal.resize(1, 1)
        terminal.resize(100, 30)
        terminal.see("Approve 001?", "ASK EVERY STEP", "1 Approve")
        terminal.decide("1", "Approve 001?")
        terminal.see("✓ done")
        assert terminal.leave() == 0


def test_a_dumb_terminal_gets_lines_without_any_sequence(tmp_path: Path, workspace: Path) -> None:
    master, slave = pty.openpty()
    environ = {**os.environ, "TERM": "dumb", "HITL_USER": "ops"}
    command = [sys.executable, "-m", "hitl_tui", "--data", str(tmp_path / "data"), "--workspace", str(workspace)]
    with subprocess.Popen(
        [*command, "What is the deposit cap?"], stdin=slave, stdout=slave, stderr=slave, cwd=ROOT, env=environ
    ) as child:
        os.close(slave)
        said = ""
        for wanted, answer in (("Approve 001?", "/todo approve\n"), ("␛[2J", "/quit\n")):
            while wanted not in said:
                said += os.read(master, 65_536).decode("utf-8", "replace")
            os.write(master, answer.encode())
        try:
            while chunk := os.read(master, 65_536):
                said += chunk.decode("utf-8", "replace")
        except OSError:  # the other end is closed
            pass
        assert child.wait(30) == 0
    os.close(master)
    assert "\x1b" not in said and not _FORBIDDEN.search(said)
