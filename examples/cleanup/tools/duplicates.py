"""Counts, backs up, deletes and verifies duplicate customers in an SQLite database.

A row is a duplicate when an earlier one (lower id) has the same name, email and city. Python 3.8 and its standard
library are all that this needs.

    duplicates.py count DATABASE
    duplicates.py backup DATABASE FOLDER
    duplicates.py preview DATABASE                   what `delete` would do; changes nothing
    duplicates.py delete DATABASE FOLDER AT_MOST     refuses when no backup in FOLDER holds the rows
    duplicates.py verify DATABASE FOLDER REPORTS
"""

from __future__ import annotations

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


class Problem(Exception):
    """Why nothing was done, in one sentence."""


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def opened(database: Path) -> sqlite3.Connection:
    """Open a database that exists, also one that a crash left in the middle of a change: SQLite takes that back."""
    if not database.is_file():
        raise Problem(f"There is no database {database}.")
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
        say(f"{doubled:,} duplicate records among {rows:,} in {database}; {rows - doubled:,} would stay.")
        for email, times in connection.execute(EXAMPLES):
            say(f"  for example {email}: {times} more")


def backup(database: Path, folder: Path) -> None:
    with closing(reading(database)) as source:
        scratch = unfinished(folder)
        with closing(sqlite3.connect(scratch)) as target:
            source.backup(target)
            whole = target.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
            rows = number(target, ROWS)
    if not whole:
        scratch.unlink()
        raise Problem("The copy is damaged, so it was thrown away.")
    kept = publish(scratch, database.stem, ".db")
    say(f"{rows:,} records backed up to {kept}; the copy was read back and is whole.")


def preview(database: Path) -> None:
    with closing(reading(database)) as connection:
        connection.execute("BEGIN")
        rows, doubled = number(connection, ROWS), number(connection, DUPLICATES)
    say(f"{doubled:,} records will be deleted")
    say(f"{rows - doubled:,} of {rows:,} records stay in {database}")


def delete(database: Path, folder: Path, at_most: int) -> None:
    with closing(opened(database)) as connection:
        if not number(connection, DUPLICATES):
            say(f"0 records deleted: there is no duplicate in {database}.")
            return
        held = next((copy for copy in copies(folder) if holds(connection, copy)), None)
        if held is None:
            raise Problem(f"Nothing was deleted: no backup in {folder} holds the rows of {database} as they are.")
        attach(connection, held)
        # One transaction: whatever happens meanwhile, all duplicates go or none does.
        connection.execute("BEGIN IMMEDIATE")
        doubled = number(connection, DUPLICATES)
        if doubled > at_most:
            raise Problem(f"Nothing was deleted: {doubled:,} records would go, and {at_most:,} are allowed.")
        if number(connection, NOT_KEPT):
            raise Problem(f"Nothing was deleted: {database} changed meanwhile, and {held} doesn't hold it as it is.")
        gone = connection.execute(DELETE).rowcount
        left = number(connection, ROWS)
        connection.execute("COMMIT")
    say(f"{gone:,} records deleted, {left:,} left in {database}. The rows as they were: {held}")


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
        raise Problem(f"There is no backup in {folder} to compare with.")
    with closing(reading(database)) as connection:
        attach(connection, kept[0])
        connection.execute("BEGIN")
        left, doubled, lost = (number(connection, query) for query in (ROWS, DUPLICATES, LOST))
        before = number(connection, "SELECT count(*) FROM copy.customers")
        whole = connection.execute("PRAGMA main.integrity_check").fetchone()[0]
    facts = [
        f"{left:,} records are left, {before - left:,} fewer than in the backup ({before:,}).",
        f"Duplicates left: {doubled:,}.",
        f"Customers of the backup that are missing: {lost:,}.",
        f"The database's own check says: {whole}.",
    ]
    good = not doubled and not lost and whole == "ok"
    facts.insert(0, "Verified: all is well." if good else "Verified: NOT as it should be.")
    lines = [f"# Clean-up of {database}", "", *(f"- {fact}" for fact in facts)]
    lines += ["", f"To go back, put `{kept[0]}` in the place of `{database}`.", ""]
    scratch = unfinished(reports)
    scratch.write_text("\n".join(lines), encoding="utf-8")
    report = publish(scratch, f"cleanup-{database.stem}", ".md")
    for fact in facts:
        say(fact)
    say(f"Report: {report}")
    if not good:
        raise Problem("The database is not as it should be; the report says what was found.")


def main(arguments: list[str]) -> int:
    on_paths: dict[tuple[str, int], Callable[..., None]] = {
        ("count", 1): count,
        ("backup", 2): backup,
        ("preview", 1): preview,
        ("verify", 3): verify,
    }
    action, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    try:
        if action == "delete" and len(rest) == 3:
            delete(Path(rest[0]), Path(rest[1]), int(rest[2]))
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
