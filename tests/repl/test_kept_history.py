"""The lines that line mode keeps between starts: bounded in length and size, readable by their owner only."""

from __future__ import annotations

from pathlib import Path

from hitl_tui.repl.prompt import open_history


def kept(path: Path) -> list[str]:
    with open_history(path, str) as history:
        return list(history.load_history_strings())[::-1]


def test_a_line_beyond_a_length_is_not_kept(tmp_path: Path) -> None:
    with open_history(tmp_path / "line-history", str) as history:
        for line in ("first", "x" * 10_001, "two\nlines"):
            history.append_string(line)
    assert kept(tmp_path / "line-history") == ["first", "two\nlines"]


def test_a_file_that_has_grown_keeps_its_newest_lines_whole(tmp_path: Path) -> None:
    path = tmp_path / "line-history"
    lines = [f"{number} 상한 {'x' * 9_000}\nand more" for number in range(150)]
    with open_history(path, str) as history:
        for line in lines:
            history.store_string(line)
    assert path.stat().st_size > 1_000_000
    found = kept(path)
    assert found == lines[-len(found) :] and 40 < len(found) < 60
    assert path.stat().st_size <= 500_000
    assert path.stat().st_mode & 0o777 == 0o600
    assert [p.name for p in tmp_path.iterdir()] == ["line-history"]
    assert kept(path) == found, "the next start leaves it as it is"
