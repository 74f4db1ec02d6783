"""Counts, backs up, deletes and verifies duplicate customers in an SQLite database.

A row is a duplicate when an earlier one (lower id) has the same name, email and city. Python 3.8 and its standard
library are all that this needs. It speaks English, or Korean where the environment says so (HITL_LANG or the locale).

    duplicates.py count DATABASE
    duplicates.py backup DATABASE FOLDER
    duplicates.py preview DATABASE FOLDER AT_MOST    what `delete` would do; changes nothing
    duplicates.py delete DATABASE FOLDER AT_MOST     refuses when no backup in FOLDER holds the rows
    duplicates.py verify DATABASE FOLDER REPORTS
"""

from __future__ import annotations

import io
import os
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

ROWS = "SELECT count(*) FROM customers"
DUPLICATES = "SELECT count(*) FROM customers WHERE id NOT IN (SELECT min(id) FROM customers GROUP BY name, email, city)"
DELETE = "DELETE FROM customers WHERE id NOT IN (SELECT min(id) FROM customers GROUP BY name, email, city)"
EXAMPLES = (
    "SELECT email, count(*) - 1 FROM customers GROUP BY name, email, city HAVING count(*) > 1 ORDER BY min(id) LIMIT 5"
)
NOT_KEPT = "SELECT count(*) FROM (SELECT * FROM customers EXCEPT SELECT * FROM copy.customers)"
LOST = (
    "SELECT count(*) FROM (SELECT name, email, city FROM copy.customers EXCEPT SELECT name, email, city FROM customers)"
)
PATIENCE = 60.0
"""Seconds to wait while another program writes."""

ENGLISH = {
    "no database": "There is no database {database}.",
    "counted": "{doubled:,} duplicate records among {rows:,} in {database}; {left:,} would stay.",
    "example": "  for example {email}: {times} more",
    "damaged": "The copy is damaged, so it was thrown away.",
    "backed up": "{rows:,} records backed up to {kept}; the copy was read back and is whole.",
    "will go": "{doubled:,} records will be deleted",
    "will stay": "{left:,} of {rows:,} records stay in {database}",
    "which": "a duplicate has the name, email and city of an earlier record; the earliest one stays",
    "will refuse": "It would refuse as things stand: no backup in {folder} holds the rows of {database}.",
    "would be too many": "0 records will be deleted: {doubled:,} would go, and {at_most:,} are allowed.",
    "none": "0 records deleted: there is no duplicate in {database}.",
    "no backup": "Nothing was deleted: no backup in {folder} holds the rows of {database} as they are.",
    "too many": "Nothing was deleted: {doubled:,} records would go, and {at_most:,} are allowed.",
    "changed": "Nothing was deleted: {database} changed meanwhile, and {held} doesn't hold it as it is.",
    "deleted": "{gone:,} records deleted, {left:,} left in {database}. The rows as they were: {held}",
    "no copy": "There is no backup in {folder} to compare with.",
    "left": "{left:,} records are left, {fewer:,} fewer than in the backup ({before:,}).",
    "doubled": "Duplicates left: {doubled:,}.",
    "lost": "Customers of the backup that are missing: {lost:,}.",
    "check": "The database's own check says: {whole}.",
    "good": "Verified: all is well.",
    "bad": "Verified: NOT as it should be.",
    "title": "# Clean-up of {database}",
    "go back": "To go back, put `{kept}` in the place of `{database}`.",
    "report": "Report: {report}",
    "wrong": "The database is not as it should be; the report says what was found.",
}
KOREAN = {
    "no database": "데이터베이스 {database} 파일이 없습니다.",
    "counted": "{database}의 레코드 {rows:,}건 중 {doubled:,}건이 중복입니다. 지우면 {left:,}건이 남습니다.",
    "example": "  예: {email}, 중복 {times}건",
    "damaged": "사본이 손상되어 버렸습니다.",
    "backed up": "레코드 {rows:,}건을 {kept} 파일에 백업했습니다. 사본을 다시 읽어 온전함을 확인했습니다.",
    "will go": "레코드 {doubled:,}건이 삭제됩니다",
    "will stay": "{database}의 레코드 {rows:,}건 중 {left:,}건이 남습니다",
    "which": "이름, 이메일, 도시가 앞선 레코드와 같으면 중복이며, 가장 앞선 레코드가 남습니다",
    "will refuse": "지금 상태로는 삭제를 거부합니다. {folder}에 {database}의 현재 레코드를 모두 담은 백업이 없습니다.",
    "would be too many": "레코드 0건이 삭제됩니다. 지울 레코드가 {doubled:,}건인데 {at_most:,}건까지만 허용됩니다.",
    "none": "레코드 0건 삭제: {database}에 중복이 없습니다.",
    "no backup": "아무것도 지우지 않았습니다. {folder}에 {database}의 현재 레코드를 모두 담은 백업이 없습니다.",
    "too many": "아무것도 지우지 않았습니다. 지울 레코드가 {doubled:,}건인데 {at_most:,}건까지만 허용됩니다.",
    "changed": "아무것도 지우지 않았습니다. 그사이 {database}의 내용이 바뀌어 백업 {held}의 내용과 다릅니다.",
    "deleted": "레코드 {gone:,}건을 삭제하여 {database}에 {left:,}건이 남았습니다. 삭제 전 레코드: {held}",
    "no copy": "{folder}에 비교할 백업이 없습니다.",
    "left": "남은 레코드는 {left:,}건으로, 백업({before:,}건)보다 {fewer:,}건 적습니다.",
    "doubled": "남은 중복: {doubled:,}건.",
    "lost": "백업에는 있으나 사라진 고객: {lost:,}명.",
    "check": "데이터베이스 자체 검사 결과: {whole}.",
    "good": "확인 결과: 모두 정상입니다.",
    "bad": "확인 결과: 정상이 아닙니다.",
    "title": "# {database} 정리",
    "go back": "되돌리려면 `{database}` 자리에 `{kept}` 파일을 두세요.",
    "report": "보고서: {report}",
    "wrong": "데이터베이스가 정상이 아닙니다. 자세한 내용은 보고서에 있습니다.",
}


class Problem(Exception):
    """Why nothing was done, in one sentence."""


def words(name: str, **values: object) -> str:
    """Return one of the sentences in the person's language."""
    chosen = next(filter(None, map(os.environ.get, ("HITL_LANG", "LC_ALL", "LC_MESSAGES", "LANG"))), "")
    return (KOREAN if chosen.lower().startswith("ko") else ENGLISH)[name].format(**values)


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def opened(database: Path) -> sqlite3.Connection:
    """Open a database that exists, also one that a crash left in the middle of a change: SQLite takes that back."""
    if not database.is_file():
        raise Problem(words("no database", database=database))
    uri = f"{database.resolve().as_uri()}?mode=rw"
    return sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None)


def reading(database: Path) -> sqlite3.Connection:
    """Open a database so that nothing in it can be changed."""
    connection = opened(database)
    connection.execute("PRAGMA query_only = ON")
    return connection


def number(connection: sqlite3.Connection, query: str) -> int:
    return int(connection.execute(query).fetchone()[0])


def copies(folder: Path) -> list[Path]:
    """The backups, newest first."""
    found = [p for p in folder.glob("*.db") if not p.name.startswith(".")]
    return sorted(found, key=lambda p: (p.stat().st_mtime_ns, p.name), reverse=True)


def unfinished(folder: Path) -> Path:
    """Return where a file of this folder is written before it has a name; what a crash left there goes."""
    folder.mkdir(exist_ok=True)
    scratch = folder / ".unfinished"
    if scratch.exists():
        scratch.unlink()
    return scratch


def publish(scratch: Path, stem: str, suffix: str) -> Path:
    """Give a finished file the first name that is free: nothing is ever written over."""
    with scratch.open("rb+") as file:
        os.fsync(file.fileno())
    n = 1
    while True:
        target = scratch.with_name(f"{stem}-{n}{suffix}")
        try:
            os.link(scratch, target)
        except FileExistsError:
            n += 1
            continue
        scratch.unlink()
        return target


def count(database: Path) -> None:
    with closing(reading(database)) as connection:
        connection.execute("BEGIN")
        rows, doubled = number(connection, ROWS), number(connection, DUPLICATES)
        say(words("counted", doubled=doubled, rows=rows, database=database, left=rows - doubled))
        for email, times in connection.execute(EXAMPLES):
            say(words("example", email=email, times=times))


def backup(database: Path, folder: Path) -> None:
    with closing(reading(database)) as source:
        scratch = unfinished(folder)
        with closing(sqlite3.connect(scratch)) as target:
            source.backup(target)
            whole = target.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
            rows = number(target, ROWS)
    if not whole:
        scratch.unlink()
        raise Problem(words("damaged"))
    kept = publish(scratch, database.stem, ".db")
    say(words("backed up", rows=rows, kept=kept))


def preview(database: Path, folder: Path, at_most: int) -> None:
    with closing(reading(database)) as connection:
        held = any(holds(connection, copy) for copy in copies(folder))
        connection.execute("BEGIN")
        rows, doubled = number(connection, ROWS), number(connection, DUPLICATES)
    if doubled and not held:
        say(words("will refuse", folder=folder, database=database))
    if doubled > at_most:
        say(words("would be too many", doubled=doubled, at_most=at_most))
        return
    say(words("will go", doubled=doubled))
    say(words("will stay", left=rows - doubled, rows=rows, database=database))
    say(words("which"))


def delete(database: Path, folder: Path, at_most: int) -> None:
    with closing(opened(database)) as connection:
        if not number(connection, DUPLICATES):
            say(words("none", database=database))
            return
        held = next((copy for copy in copies(folder) if holds(connection, copy)), None)
        if held is None:
            raise Problem(words("no backup", folder=folder, database=database))
        attach(connection, held)
        # One transaction: whatever happens meanwhile, all duplicates go or none does.
        connection.execute("BEGIN IMMEDIATE")
        doubled = number(connection, DUPLICATES)
        if doubled > at_most:
            raise Problem(words("too many", doubled=doubled, at_most=at_most))
        if number(connection, NOT_KEPT):
            raise Problem(words("changed", database=database, held=held))
        gone = connection.execute(DELETE).rowcount
        left = number(connection, ROWS)
        connection.execute("COMMIT")
    say(words("deleted", gone=gone, left=left, database=database, held=held))


def attach(connection: sqlite3.Connection, copy: Path) -> None:
    connection.execute("ATTACH ? AS copy", (f"{copy.resolve().as_uri()}?mode=ro",))


def holds(connection: sqlite3.Connection, copy: Path) -> bool:
    """Whether every row is in this backup."""
    try:
        attach(connection, copy)
    except sqlite3.Error:
        return False
    try:
        return number(connection, NOT_KEPT) == 0
    except sqlite3.Error:
        return False
    finally:
        connection.execute("DETACH copy")


def verify(database: Path, folder: Path, reports: Path) -> None:
    kept = copies(folder)
    if not kept:
        raise Problem(words("no copy", folder=folder))
    with closing(reading(database)) as connection:
        attach(connection, kept[0])
        connection.execute("BEGIN")
        left, doubled, lost = (number(connection, query) for query in (ROWS, DUPLICATES, LOST))
        before = number(connection, "SELECT count(*) FROM copy.customers")
        whole = connection.execute("PRAGMA main.integrity_check").fetchone()[0]
    facts = [
        words("left", left=left, fewer=before - left, before=before),
        words("doubled", doubled=doubled),
        words("lost", lost=lost),
        words("check", whole=whole),
    ]
    good = not doubled and not lost and whole == "ok"
    facts.insert(0, words("good" if good else "bad"))
    lines = [words("title", database=database), "", *(f"- {fact}" for fact in facts)]
    lines += ["", words("go back", kept=kept[0], database=database), ""]
    scratch = unfinished(reports)
    scratch.write_text("\n".join(lines), encoding="utf-8")
    report = publish(scratch, f"cleanup-{database.stem}", ".md")
    for fact in facts:
        say(fact)
    say(words("report", report=report))
    if not good:
        raise Problem(words("wrong"))


def main(arguments: list[str]) -> int:
    on_paths: dict[tuple[str, int], Callable[..., None]] = {
        ("count", 1): count,
        ("backup", 2): backup,
        ("verify", 3): verify,
    }
    limited = {"preview": preview, "delete": delete}
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")
    action, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    try:
        if action in limited and len(rest) == 3:
            limited[action](Path(rest[0]), Path(rest[1]), int(rest[2]))
        elif (action, len(rest)) in on_paths:
            on_paths[action, len(rest)](*map(Path, rest))
        else:
            sys.stderr.write(f"{__doc__}\n")
            return 2
    except (Problem, sqlite3.Error, OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
