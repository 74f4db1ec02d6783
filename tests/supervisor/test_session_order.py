"""Sessions in the order they were made, whatever they are called."""

from __future__ import annotations

from pathlib import Path

from hitl_tui.supervisor.storage import DataFolder, SessionFolder, SessionInfo


def test_sessions_stand_in_the_order_they_were_made_whatever_they_are_called(tmp_path: Path) -> None:
    data = DataFolder(tmp_path)
    for minute, name in enumerate(("s1", "april", "s2", "s9", "an-old", "s10", "zoo", "build")):
        (data.sessions / name).mkdir(parents=True)
        info = SessionInfo(name, "/w", name, f"2026-11-29T19:{minute:02}:00+00:00", name)
        SessionFolder(data.sessions / name).write_info(info)
    (data.sessions / "damaged").mkdir()
    (data.sessions / "damaged" / "session.json").write_text("{")
    assert data.ids() == ["damaged", "s1", "april", "s2", "s9", "an-old", "s10", "zoo", "build"]
