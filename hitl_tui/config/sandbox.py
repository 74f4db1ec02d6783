"""Making the sandbox of a starter: what is too large, or too dated, to be packaged is written from a declaration.

The declaration is `sandbox.toml` in the starter's folder: `[[files]]` are files of a size and an age, `[database]` is
an SQLite file of customers with duplicates. The same declaration gives the same contents at any time; only the dates
go with the day.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hitl_tui.core.messages import Message

if TYPE_CHECKING:
    from random import Random

_Table = Mapping[str, Any]
"""A table of a packaged sandbox.toml."""

DECLARATION = "sandbox.toml"
_HALF_DAY = timedelta(hours=12)
_PATHS = ("/", "/cart", "/orders", "/products/{n}", "/static/app.js", "/health")


def make_sandbox(folder: Path, now: datetime | None = None) -> None:
    """Write into a folder what its `sandbox.toml` declares; without that file nothing.

    Args:
        folder: a copy of a starter's folder, to be written to.
        now: what ages are counted from; the present unless given.

    Raises:
        OSError: it can't be written.
    """
    path = folder / DECLARATION
    if not path.is_file():
        return
    import tomllib

    declared = tomllib.loads(path.read_text(encoding="utf-8"))
    for entry in declared.get("files", ()):
        _write_files(folder, entry, now or datetime.now(UTC))
    if "database" in declared:
        _write_database(folder, declared["database"])


def _write_files(folder: Path, entry: _Table, now: datetime) -> None:
    from random import Random

    for days in entry["days"]:
        # Half a day more, so that an age in whole days doesn't hang on the hour.
        written = now - timedelta(days=days) - (_HALF_DAY if days else timedelta(0))
        path = folder / str(entry["path"]).replace("{date}", written.strftime("%Y%m%d"))
        path.parent.mkdir(parents=True, exist_ok=True)
        random = Random(f"{entry['path']} {days}")  # noqa: S311 - the same contents every time
        text = _orders(random, written) if entry.get("content") == "orders" else _requests(random, written)
        path.write_bytes(_of_size(text, int(entry["kilobytes"]) * 1024, packed=path.suffix == ".gz"))
        os.utime(path, (written.timestamp(), written.timestamp()))


def _requests(random: Random, written: datetime) -> Iterator[str]:
    """Yield the lines of a log of requests up to a moment's day, without end."""
    moment = written - timedelta(days=1)
    while True:
        moment += timedelta(seconds=random.random() * 9)
        page = random.choice(_PATHS).replace("{n}", str(random.randrange(900)))
        address = f"10.{random.randrange(256)}.{random.randrange(256)}.{random.randrange(256)}"
        code = random.choice(("200", "200", "200", "304", "404"))
        token = f"{random.getrandbits(512):0128x}"
        yield f'{address} [{moment:%d/%b/%Y:%H:%M:%S} +0000] "GET {page}" {code} {random.randrange(9000)} {token}\n'


def _orders(random: Random, written: datetime) -> Iterator[str]:
    """Yield the lines of a table of orders, without end."""
    for number in count(1):
        amount = f"{random.randrange(500, 90000) / 100:.2f}"
        customer, mark = random.randrange(22000), f"{random.getrandbits(256):064x}"
        yield f"{number};{written:%Y-%m-%d};customer-{customer};{amount};{mark}\n"


def _of_size(lines: Iterator[str], size: int, *, packed: bool) -> bytes:
    """Return lines of about `size` bytes as they lie on disk: packed with gzip or plain."""
    if not packed:
        data = b""
        while len(data) < size:
            data += "".join(islice(lines, 200)).encode()
        return data
    import zlib

    data, gzip = b"", zlib.compressobj(level=1, wbits=31)
    while len(data) < size:
        data += gzip.compress("".join(islice(lines, 200)).encode()) + gzip.flush(zlib.Z_SYNC_FLUSH)
    return data + gzip.flush()


def _write_database(folder: Path, declared: _Table) -> None:
    import sqlite3
    from contextlib import closing
    from random import Random

    random = Random(declared["seed"])  # noqa: S311 - the same rows every time
    try:
        with closing(sqlite3.connect(folder / declared["path"])) as connection:
            connection.execute(
                "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, "
                "city TEXT NOT NULL, imported TEXT NOT NULL)"
            )
            connection.executemany(
                "INSERT INTO customers (name, email, city, imported) VALUES (?, ?, ?, ?)", _customers(declared, random)
            )
            connection.commit()
    except sqlite3.Error as error:
        raise OSError(Message("the database can't be made: {}", error)) from error


def _customers(declared: _Table, random: Random) -> list[tuple[str, str, str, str]]:
    """Return rows in the order of their ids: each customer once, the duplicates scattered behind their originals."""
    people = _people(declared, random)
    first = [(*person, "2026-03-01") for person in people]
    again = [(*random.choice(people), "2026-03-02") for _ in range(declared["duplicates"])]
    return [*first, *again]


def _people(declared: _Table, random: Random) -> list[tuple[str, str, str]]:
    people: list[tuple[str, str, str]] = []
    alone = declared["customers"] - declared["namesakes"]
    for number in range(declared["customers"]):
        if number < alone:
            name = f"{random.choice(declared['given'])} {random.choice(declared['family'])}"
            city = random.choice(declared["city"])
        else:
            name, _, city = people[random.randrange(alone)]
        address = name.lower().replace(" ", ".")
        people.append((name, f"{address}.{number}@example.com", city))
    return people
