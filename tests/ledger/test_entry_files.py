"""Entries as files: processes at once, deaths in the middle of a write, damage, names that lead astray."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine
from dataclasses import replace
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import pytest
from ledger_support import ask, at, say

from hitl_tui.core.errors import Refused, StorageError
from hitl_tui.core.requests import Outcome, Verdict
from hitl_tui.core.supersession import Cause
from hitl_tui.ledger import stream_ledger
from hitl_tui.ledger.entry_files import EntryFiles, at_once
from hitl_tui.ledger.records import Entry, Head, seal
from hitl_tui.ledger.stream_ledger import StreamLedger

FORKED = multiprocessing.get_context("fork")
REQUEST = ask(risk="low")


def ledger(folder: Path) -> StreamLedger:
    return StreamLedger(EntryFiles(folder))


def decide_together(folder: Path, number: int, ready: Barrier, told: Path) -> None:
    """Say approve or reject, by number, when everybody is there; write what came of it."""
    mine = ledger(folder)
    verdict = Verdict.APPROVE if number % 2 else Verdict.REJECT
    ready.wait()
    try:
        at_once(mine.decide(say(REQUEST, verdict, f"person{number}"), at(2)))
        word = verdict.value
    except Refused as refused:
        word = refused.reason
    (told / str(number)).write_text(word)


def test_of_many_processes_that_decide_one_counts_and_the_others_are_told(tmp_path: Path) -> None:
    told = tmp_path / "told"
    told.mkdir()
    at_once(ledger(tmp_path / "c").open_requests([REQUEST]))
    count = 12
    ready = FORKED.Barrier(count)
    people = [FORKED.Process(target=decide_together, args=(tmp_path / "c", n, ready, told)) for n in range(count)]
    for person in people:
        person.start()
    for person in people:
        person.join(60)
    words = [(told / str(n)).read_text() for n in range(count)]
    won = [word for word in words if word in ("approve", "reject")]
    assert len(won) == 1
    assert words.count("late") == count - 1
    view = at_once(ledger(tmp_path / "c").request(REQUEST.id, at(3)))
    assert view is not None and view.resolution.verdict == won[0]
    assert len(view.decisions) == 1


class Overtaken(EntryFiles):
    """Files where somebody else is faster each time."""

    async def add(self, entry: Entry) -> bool:
        head = Head(entry.stream, entry.n - 1, entry.prev)
        return not await super().add(seal(head, "note", {}, entry.at)[0])


@pytest.mark.parametrize(
    "write",
    [
        lambda mine: mine.record("s1", "note", {}, at(2)),
        lambda mine: mine.open_requests([ask("todo_002")]),
        lambda mine: mine.mark_shown([REQUEST.id], "ann", "cli", at(2)),
        lambda mine: mine.decide(say(REQUEST), at(2)),
        lambda mine: mine.expire(at(99)),
        lambda mine: mine.supersede("s1", [], Cause.ADVANCED, at(2)),
        lambda mine: mine.attach_evidence(REQUEST.id, {"preview": "10 rows"}, at(2)),
    ],
    ids=["record", "open", "show", "decide", "expire", "supersede", "evidence"],
)
def test_whoever_is_overtaken_all_the_time_is_told_that_nothing_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[StreamLedger], Coroutine[Any, Any, object]]
) -> None:
    monkeypatch.setattr(stream_ledger, "_TRIES", 3)
    at_once(ledger(tmp_path).open_requests([replace(REQUEST, deadline=at(50))]))
    with pytest.raises(StorageError, match="s1 is being written all the time"):
        at_once(write(StreamLedger(Overtaken(tmp_path))))
    assert [entry.kind for entry in at_once(ledger(tmp_path).entries("s1"))] == ["request_opened", *["note"] * 3]


def write_until_killed(folder: Path) -> None:
    mine = ledger(folder)
    for number in range(100_000):
        at_once(mine.record("s1", "note", {"number": number, "text": "x" * 5_000}, at(number)))
        with (folder.parent / "acknowledged").open("a") as file:
            file.write(f"{number}\n")


@pytest.mark.parametrize("kill", range(5))
def test_a_writer_killed_at_any_moment_leaves_whole_entries_alone(tmp_path: Path, kill: int) -> None:
    folder = tmp_path / "c"
    writer = FORKED.Process(target=write_until_killed, args=(folder,))
    writer.start()
    while len(list(folder.glob("s1/*.json"))) < 3 + 7 * kill:
        assert writer.is_alive()
    assert writer.pid is not None
    os.kill(writer.pid, signal.SIGKILL)
    writer.join(60)
    lines = (tmp_path / "acknowledged").read_text().splitlines(keepends=True)
    acknowledged = max(int(line) for line in lines if line.endswith("\n"))
    entries = at_once(ledger(folder).entries("s1", limit=100_000))
    assert len(entries) >= acknowledged + 1
    assert [entry.data["number"] for entry in entries] == list(range(len(entries)))
    assert at_once(ledger(folder).record("s1", "note", {"after": True}, at())).n == len(entries) + 1


def test_a_half_written_draft_is_no_entry(tmp_path: Path) -> None:
    at_once(ledger(tmp_path).record("s1", "note", {}, at()))
    (tmp_path / "s1" / ".new-0123").write_text('{"stream": "s1", "n": 2')
    assert len(at_once(ledger(tmp_path).entries("s1"))) == 1
    assert at_once(ledger(tmp_path).record("s1", "note", {}, at())).n == 2


@pytest.mark.parametrize("damage", ["cut", "emptied", "changed", "gone", "moved"])
def test_damage_is_named_and_never_believed(tmp_path: Path, damage: str) -> None:
    for number in range(3):
        at_once(ledger(tmp_path).record("s1", "note", {"number": number}, at(number)))
    second = tmp_path / "s1" / "000002.json"
    if damage == "cut":
        second.write_bytes(second.read_bytes()[:-40])
    elif damage == "emptied":
        second.write_text("")
    elif damage == "changed":
        fields = json.loads(second.read_text())
        fields["data"]["number"] = 7
        second.write_text(json.dumps(fields))
    elif damage == "gone":
        second.unlink()
    else:
        second.write_bytes((tmp_path / "s1" / "000003.json").read_bytes())
    for act in (ledger(tmp_path).entries("s1"), ledger(tmp_path).record("s1", "note", {}, at())):
        with pytest.raises(StorageError) as found:
            at_once(act)
        assert "2" in found.value.message
        assert "\n" not in found.value.message


def test_a_full_disk_is_one_sentence_and_changes_nothing(tmp_path: Path) -> None:
    at_once(ledger(tmp_path).record("s1", "note", {}, at()))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, before[1]))
    try:
        with pytest.raises(StorageError, match="can't be written"):
            at_once(ledger(tmp_path).record("s1", "note", {"text": "x" * 10_000}, at()))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert [path.name for path in (tmp_path / "s1").iterdir()] == ["000001.json"]


SMALL_DISK = """
mount -t tmpfs -o size=64k none "$1" && cd "$1" && mkdir .masc && : >filler || exit 77
for step in 1 2 3; do "$2" --task-id t --step $step --action x --agent bot; done
cat /dev/zero >filler 2>/dev/null
"$2" --task-id t --step 4 --action x --agent bot; echo "code $?"
rm filler
"$2" --task-id t --step 4 --action x --agent bot
ls -A .masc/state/checkpoints/t
"""


@pytest.mark.long
def test_a_disk_that_is_full_keeps_what_was_written_and_goes_on_when_there_is_room(tmp_path: Path) -> None:
    disk, command = tmp_path / "disk", str(Path(sys.executable).with_name("masc-checkpoint"))
    disk.mkdir()
    environ = os.environ | {"HITL_DATA_DIR": str(tmp_path / "data"), "HITL_LANG": "en"}
    shell = ["unshare", "-rm", "sh", "-c", SMALL_DISK, "sh", str(disk), command]
    try:
        done = subprocess.run(shell, env=environ, capture_output=True, text=True, timeout=60, check=False)
    except FileNotFoundError:
        pytest.skip("there is no unshare here")
    if done.returncode in (1, 77) and not done.stdout:
        pytest.skip("no small disk can be mounted here")
    assert (
        done.stderr.startswith("masc-checkpoint: Disk full: nothing was written to ") and done.stderr.count("\n") == 1
    )
    said = done.stdout.splitlines()
    assert said[3] == "code 1" and said[4].startswith("Recorded step 4")
    assert said[5:] == [f"{n:06}.json" for n in range(1, 5)]


@pytest.mark.parametrize("name", ["../up", "..", ".", "a/b", "a\\b", "tab\tand\nline", "\x00", "한글", "~", "con "])
def test_any_name_stays_in_its_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "inside"
    at_once(ledger(folder).record(name, "note", {}, at()))
    assert [head.stream for head in at_once(ledger(folder).streams())] == [name]
    assert [path.name for path in tmp_path.iterdir()] == ["inside"]
    assert len(list(folder.iterdir())) == 1


def test_a_name_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="too long"):
        at_once(ledger(tmp_path).record("가" * 200, "note", {}, at()))
    assert list(tmp_path.iterdir()) == []


def test_a_clock_that_goes_back_neither_revives_nor_reorders(tmp_path: Path) -> None:
    early, late = ask("todo_001", opened=100, deadline=110), ask("todo_002", opened=5)
    mine = ledger(tmp_path)
    at_once(mine.open_requests([early, late]))
    assert at_once(mine.expire(at(111), "s1")) == [early.id]
    view = at_once(ledger(tmp_path).request(early.id, at(50)))
    assert view is not None and view.resolution.outcome is Outcome.EXPIRED
    listed = at_once(ledger(tmp_path).requests(at(50), pending=False))
    assert [v.request.id for v in listed] == [early.id, late.id]


def test_without_hard_links_nothing_is_recorded_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(StorageError, match=r"can't be written: its file system has no hard links\.$"):
        at_once(ledger(tmp_path).open_requests([REQUEST]))
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == []
