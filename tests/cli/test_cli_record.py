"""A record that was rewritten by somebody who knows how it is made is found, and only looked at (T9)."""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from cli_support import Shell

from hitl_tui.ledger import view_tables
from hitl_tui.ledger.records import Head, seal
from hitl_tui.ledger.sqlite_schema import FORM
from hitl_tui.ledger.view_tables import data_of

QUESTION = "deposit rules"
Change = Callable[[str, dict[str, Any]], None]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@contextmanager
def without_triggers(ledger: Path) -> Iterator[sqlite3.Connection]:
    """Give a connection that may write everything; the triggers are back at the end."""
    with closing(sqlite3.connect(ledger, isolation_level=None)) as db:
        triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            db.execute(f"DROP TRIGGER {name}")
        yield db
        for _, sql in triggers:
            db.execute(sql)


def rewrite(ledger: Path, change: Change, *statements: str) -> None:
    """Change what a session's entries say, compute all hashes anew, rebuild the views, put the triggers back."""
    with without_triggers(ledger) as db:
        for statement in statements:
            db.execute(statement)
        end = Head("s1", 0, "0" * 64)
        rows = db.execute("SELECT n, at, kind, data FROM entries WHERE stream = 's1' ORDER BY n").fetchall()
        for n, at, kind, raw in rows:
            data = data_of(raw, "s1", n)
            change(kind, data)
            entry, written = seal(end, kind, data, at)
            end = Head("s1", n, entry.hash)
            db.execute(
                "UPDATE entries SET data = ?, prev = ?, hash = ? WHERE stream = 's1' AND n = ?",
                (written, entry.prev, entry.hash, n),
            )
        view_tables.rebuild(db, FORM)


def turned(before: str, after: str) -> Change:
    """Return what turns one verdict into another, wherever it stands."""

    def change(kind: str, data: dict[str, Any]) -> None:
        for one in (data.get("decision"), data.get("event")):
            if isinstance(one, dict) and one.get("verdict") == before:
                one["verdict"] = after
                if "outcome" in one:
                    one["outcome"] = "approved" if after == "approve" else "rejected"

    return change


def problems(shell: Shell) -> list[str]:
    done = shell.run("audit", "verify", "--json")
    assert done.code == (1 if done.json["problems"] else 0)
    return [problem["what"] for problem in done.json["problems"]]


GONE = "DROP TABLE signatures", "DELETE FROM entries WHERE stream = 'audit/keys'"


def test_a_rejection_that_became_an_approval_is_found_by_signature_and_by_checkpoints(shell: Shell) -> None:
    shell.run("run", QUESTION)
    shell.run("do", "s1", "/todo reject 1 no")
    assert problems(shell) == []
    rewrite(shell.data / "ledger.db", turned("reject", "approve"))
    found = problems(shell)
    assert any("isn't what was signed" in what for what in found)
    said = "The checkpoints say that 001 was rejected, and the record says approve."
    assert said in found
    rewrite(shell.data / "ledger.db", lambda kind, data: None, *GONE)
    found = problems(shell)
    assert said in found and any("its signatures are gone" in what for what in found)


def test_an_approval_that_became_a_rejection_is_found_by_checkpoints(shell: Shell) -> None:
    shell.run("run", QUESTION)
    shell.run("do", "s1", "/todo approve 1")
    rewrite(shell.data / "ledger.db", turned("approve", "reject"), *GONE)
    assert "The checkpoints say that 001 was approved, and the record says reject." in problems(shell)


def test_a_decision_without_its_event_changed_is_found(shell: Shell) -> None:
    shell.run("run", QUESTION)
    shell.run("do", "s1", "/todo approve 1")

    def change(kind: str, data: dict[str, Any]) -> None:
        if kind == "decision":
            data["decision"]["verdict"] = "reject"

    rewrite(shell.data / "ledger.db", change, *GONE)
    assert any("what was carried out is approve" in what for what in problems(shell))


@pytest.mark.long
def test_what_people_do_one_after_another_is_no_contradiction(shell: Shell) -> None:
    shell.run("run", "compare the deposit rules with the jeonse contract and summarise both")
    for line in (
        "/todo skip 1",
        "/todo update 1 pending",
        "/todo approve 1",
        "/checkpoint list",
        "/mode risk",
        "/stop",
    ):
        shell.run("do", "s1", line)
        assert problems(shell) == []
    listed = shell.run("do", "s1", "/checkpoint list", "--json").json["checkpoints"]
    shell.run("do", "s1", f"/checkpoint restore {listed[-1]['checkpoint_id']}")
    assert problems(shell) == []
    shell.run("do", "s1", "/todo reject 1")
    shell.run("fork", "s1")
    shell.run("export", "s1", str(shell.data / "s1.hitl"))
    shell.run("import", str(shell.data / "s1.hitl"))
    assert problems(shell) == []


def test_a_trigger_that_went_or_came_is_named(shell: Shell) -> None:
    shell.run("run", QUESTION)
    with closing(sqlite3.connect(shell.data / "ledger.db", isolation_level=None)) as db:
        db.execute("DROP TRIGGER entries_stay")
        db.execute("CREATE TRIGGER extra AFTER INSERT ON entries BEGIN SELECT 1; END")
    assert problems(shell) == [
        "The trigger entries_stay, which protects entries, is gone.",
        "The trigger extra was added by another program.",
    ]


def test_anchors_write_themselves_and_tell_what_was_cut_off(shell: Shell, tmp_path: Path) -> None:
    shell.data.mkdir()
    place = tmp_path / "anchors.txt"
    (shell.data / "settings.toml").write_text(f'[audit]\nanchors = "{place}"\n', encoding="utf-8")
    shell.run("run", QUESTION)
    shell.run("do", "s1", "/todo reject 1")
    assert place.read_text(encoding="utf-8").count("\n") >= 2
    checked = shell.run("audit", "verify", "--json").json
    assert checked["ok"] and checked["anchors"]["checked"] >= 2
    kept = shell.data / "ledger.db"
    rewrite(kept, turned("reject", "approve"))
    assert any("differs from its anchor" in what for what in problems(shell))
    place.chmod(0o400)
    (shell.data / "settings.toml").write_text('[audit]\nanchors = "somewhere"\n', encoding="utf-8")
    for arguments in (("audit", "verify"), ("run", QUESTION)):
        done = shell.run(*arguments)
        assert done.code == 2 and "settings.toml line 2" in done.err and done.err.count("\n") == 1


def test_verify_says_how_much_is_signed(shell: Shell) -> None:
    shell.run("run", QUESTION)
    found = shell.run("audit", "verify", "--json").json
    assert {one["stream"] for one in found["signatures"]} == {"s1", "audit/keys"}
    assert all(one["last"] == one["entries"] for one in found["signatures"])
    assert "Signed: " in shell.run("audit", "verify").out


def unsigned(ledger: Path) -> None:
    """Take every signature away, and what says that there were any."""
    with without_triggers(ledger) as db:
        db.execute("DELETE FROM signatures")
        db.execute("DELETE FROM entries WHERE stream = 'audit/keys'")
        db.execute("DELETE FROM streams WHERE stream = 'audit/keys'")


def test_signatures_that_were_all_taken_away_are_missed(shell: Shell) -> None:
    shell.run("run", QUESTION)
    unsigned(shell.data / "ledger.db")
    assert problems(shell)[0].endswith("but its signatures are gone.")


def test_signatures_are_missed_behind_a_link_too(shell: Shell, tmp_path: Path) -> None:
    shell.run("run", QUESTION)
    unsigned(shell.data / "ledger.db")
    moved = shell.data.rename(tmp_path / "elsewhere")
    shell.data.symlink_to(moved)
    assert problems(shell)[0].endswith("but its signatures are gone.")
    (moved / "ledger.db").rename(moved / "other.db")
    (moved / "ledger.db").symlink_to("other.db")
    for command in (("audit", "verify"), ("do", "s1", "/todos"), ("show", "s1")):
        done = shell.run(*command)
        assert done.code in (1, 2) and "is a link" in done.err and done.err.count("\n") == 1, command


def test_a_session_that_cannot_be_read_or_is_gone_or_elsewhere_is_a_problem(shell: Shell) -> None:
    for name in ("s1", "s2", "s3", "s4"):
        shell.run("run", QUESTION, "--session", name)
    assert shell.run("delete", "s4", "--yes").code == 0
    sessions = shell.data / "sessions"
    assert problems(shell) == []
    (sessions / "s3" / "checkpoints.db").write_bytes(b"\x07" * 9_000)
    (sessions / "s1").rename(sessions / "x")
    (sessions / "s2").rename(sessions / "s1")
    (sessions / "x").rename(sessions / "s2")
    found = problems(shell)
    assert len(found) == 3
    assert "belongs to session s2" in found[0] and "belongs to session s1" in found[1] and "isn't" not in found[2]
    assert shell.run("do", "s1", "/stop").code in (1, 2)
    (sessions / "s1" / "session.json").unlink()
    assert any("though nobody deleted it" in what for what in problems(shell))


def test_one_session_that_cannot_be_read_hides_no_other(shell: Shell) -> None:
    shell.run("run", QUESTION)
    shell.run("run", QUESTION, "--session", "s2")
    bad = shell.data / "sessions" / "s1" / "session.json"
    for content in ("[" * 100_000, "[1, 2]", "", None):
        bad.unlink()
        if content is None:
            os.mkfifo(bad)
        else:
            bad.write_text(content, encoding="utf-8")
        listed = shell.run("sessions", "--json")
        assert listed.code == 0 and "s2" in [s["session_id"] for s in listed.json["sessions"]]
        for command in (("show", "s1"), ("do", "s1", "/todos")):
            done = shell.run(*command)
            assert done.code in (1, 2) and "session.json can't be read: it isn't " in done.err, command
            assert done.err.count("\n") == 1


def test_a_revocation_of_trust_that_is_cut_off_is_missed(shell: Shell) -> None:
    shell.declare('[teams.command_team.commands.note]\nrun = ["touch", "noted"]\nrisk = "low"\n')
    assert shell.run("trust", ".", "--revoke").code == 0
    assert shell.run("audit", "verify").code == 0
    with without_triggers(shell.data / "ledger.db") as db:
        (n,) = db.execute("SELECT max(n) FROM entries WHERE stream = 'trust/workspaces'").fetchone()
        for table in ("entries", "signatures"):
            db.execute(f"DELETE FROM {table} WHERE stream = 'trust/workspaces' AND n = ?", (n,))
        db.execute(
            "UPDATE streams SET n = ?1, hash = (SELECT hash FROM entries WHERE stream = 'trust/workspaces' AND n = ?1)"
            " WHERE stream = 'trust/workspaces'",
            (n - 1,),
        )
    assert "is now missing or different" in problems(shell)[0]
    shown = shell.run("trust", ".", "--show", "--json").json
    assert not shown["trusted"]
    assert shell.run("trust", ".", "--digest", shown["digest"]).code == 0, "it can be trusted anew"
    assert shell.run("trust", ".", "--show", "--json").json["trusted"] and problems(shell) == []


def test_a_key_that_is_none_is_one_sentence(shell: Shell) -> None:
    done = shell.run("run", QUESTION, HITL_AUDIT_KEY="nonsense")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("hitl-tui: HITL_AUDIT_KEY isn't a signing key: ") and done.err.count("\n") == 1


def test_what_another_home_signed_is_read_only_until_its_key_is_accepted(shell: Shell, tmp_path: Path) -> None:
    one, other = ({"XDG_CONFIG_HOME": str(tmp_path / name)} for name in ("one", "other"))
    assert shell.run("run", QUESTION, **one).err == ""
    done = shell.run("do", "s1", "/todo approve", **other)
    said = re.match(r"New signing key ([0-9a-f]{16}): this record was signed by [0-9a-f]{16}, under another", done.err)
    assert (done.code, said is not None) == (0, True), done.err
    key = said[1] if said else ""
    for line, code in (("/todo add search_team more", 1), ("/todos", 0)):
        done = shell.run("do", "s1", line, **one)
        assert done.code == code and "s1 is read-only here. Entry " in done.err, done.err
        assert f"is signed by the key {key}, which isn't known here: another account or HOME made it." in done.err
        assert f"hitl-tui audit accept {key}" in done.err and "damaged" not in done.err
    found = shell.run("audit", "verify", "--json", **one)
    assert (found.code, found.json["status"], found.json["ok"]) == (1, "unknown_key", False)
    assert {problem["key"][:16] for problem in found.json["problems"]} == {key}
    assert "intact, but signed by a key that isn't known here." in shell.run("audit", "verify", **one).out
    assert f"This account signs with the key {key}." in shell.run("audit", "verify", **other).out
    assert shell.run("audit", "verify", **other).code == 0, "who had no key knows the one that was there"
    for wrong in ((), (key[:15],), ("0" * 16,)):
        assert shell.run("audit", "accept", *wrong, **one).code == 2
    assert shell.run("audit", "accept", key, **one).out.startswith(f"Accepted the key {key}")
    entries = [json.loads(line) for line in shell.run("audit", "export", "audit/keys", **one).out.splitlines()]
    accepted = [entry["data"] for entry in entries if entry["kind"] == "audit_key_accepted"]
    assert [(entry["accepted"][0][:16], entry["by"].split()[0]) for entry in accepted] == [(key, "tester")]
    assert shell.run("audit", "verify", **one).code == 0
    done = shell.run("do", "s1", "/todo add search_team more", **one)
    assert done.code in (0, 3) and done.err == "", done.err
    shell.run("run", QUESTION, "--session", "s2", **other)
    assert shell.run("do", "s2", "/todo approve", **one).code == 0, "and what it signs from then on"


def test_a_session_whose_record_was_rewritten_is_shown_and_takes_nothing(shell: Shell, tmp_path: Path) -> None:
    shell.run("run", "compare the deposit rules with the jeonse contract and summarise both")
    shell.run("do", "s1", "/todo reject 1 no")
    rewrite(shell.data / "ledger.db", turned("reject", "approve"))
    before = shell.run("audit", "head").out
    for line in ("/todo skip 2", "/todo add search_team more", "/stop"):
        done = shell.run("do", "s1", line)
        assert done.code in (1, 2) and not done.out and "so the session is read-only" in done.err, line
    assert shell.run("do", "s1", "/stop", "--json").json["status"] == "error"
    assert shell.run("audit", "head").out == before
    looked = shell.run("do", "s1", "/todos")
    assert looked.code == 0 and "is damaged or was changed, so" in looked.err
    assert shell.run("show", "s1").code == 0
    assert shell.run("export", "s1", str(tmp_path / "s1.hitl")).code == 0
    shell.run("run", QUESTION, "--session", "s2")
    assert shell.run("do", "s2", "/todo approve").code == 0, "others go on"


def test_rules_and_titles_of_a_session_whose_record_was_rewritten_stay(shell: Shell) -> None:
    shell.run("run", "compare the deposit rules with the jeonse contract and summarise both")
    shell.run("run", QUESTION, "--session", "s2")
    first = shell.run("show", "s1", "--json").json["questions"][0]
    rules = shell.data / "rules.toml"
    assert shell.run("do", "s1", f"/rules allow {first['todo_id']} --digest {first['digest']}").code in (0, 3)
    shell.run("do", "s1", "/todo reject 1 no")
    before = rules.read_text(encoding="utf-8")
    asked = shell.run("do", "s1", "/todo add search_team more", "--json").json["questions"][-1]
    rewrite(shell.data / "ledger.db", turned("reject", "approve"))
    head = shell.run("audit", "head").out
    commands = (
        f"/rules allow {asked['todo_id']} --digest {asked['digest']}",
        "/rules edit 1 --until 8h",
        "/rules revoke 1",
    )
    for line in commands:
        done = shell.run("do", "s1", line)
        assert done.code in (1, 2) and "so the session is read-only" in done.err, line
    renamed = shell.run("rename", "s1", "another title")
    assert renamed.code in (1, 2) and "so the session is read-only" in renamed.err
    assert (rules.read_text(encoding="utf-8"), shell.run("audit", "head").out) == (before, head)
    assert shell.run("do", "s2", "/rules revoke 1").code in (0, 3), "elsewhere it can be taken back"


@pytest.mark.sampled(4)
@pytest.mark.long
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE requests SET state = 'settled', settled_at = '2025', verdict = 'approve', outcome = 'approved'",
        "UPDATE requests SET first_shown = '2020-01-01T00:00:00+00:00'",
        "UPDATE requests SET deadline = '2020-01-01T00:00:00+00:00'",
        "UPDATE requests SET state = 'superseded', superseded = 'skipped by ann at 2025-01-01T00:00:00+00:00'",
        "DELETE FROM requests",
        "DELETE FROM decisions",
        "UPDATE decisions SET request = 'req-0000000000000000'",
        "UPDATE inbox SET seq = seq + 100",
    ],
)
def test_a_view_that_says_otherwise_than_its_entries_is_found_at_opening(shell: Shell, statement: str) -> None:
    shell.run("run", "compare the deposit rules with the jeonse contract and summarise both")
    shell.run("do", "s1", "/todo approve 1")
    shell.run("run", QUESTION, "--session", "s2")
    with closing(sqlite3.connect(shell.data / "ledger.db", isolation_level=None)) as db:
        db.execute(statement.replace("DELETE FROM requests", "DELETE FROM requests WHERE session = 's1'"))
    head = shell.run("audit", "head").out
    for line in (("do", "s1", "/todos"), ("do", "s1", "/todo approve 2"), ("do", "s1", "/stop"), ("show", "s1")):
        done = shell.run(*line)
        assert (done.code, done.out) == (1, "") and "The record of session s1 is damaged or was changed" in done.err
    assert shell.run("audit", "head").out == head
    assert any(what.startswith("The view ") for what in problems(shell))
    file = shell.data / "s1.hitl"
    assert shell.run("export", "s1", str(file)).code == 0
    made = shell.run("import", str(file), "--json").json["session_id"]
    listed = shell.run("do", made, "/todos", "--json").json
    assert listed["todos"][0]["status"] == "completed", "its entries are whole, and views are built from them"
