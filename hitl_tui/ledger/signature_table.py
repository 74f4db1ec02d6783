"""Signatures of heads beside the entries, in tables: made with each commit, and compared with the entries."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass

from hitl_tui.core.messages import Message
from hitl_tui.ledger.records import Head, Problem
from hitl_tui.ledger.signatures import KnownSignatures, Place, Signer, accept_command, shown_key, verifies
from hitl_tui.ledger.sql_transaction import Row, TableForm, Transaction
from hitl_tui.ledger.stream_tables import entries, head, write_entry

KEYS = "audit/keys"
"""The stream that says which keys signed since when; no session can have this name."""

_TABLE = "signatures"
_COLUMNS = """(
    stream TEXT NOT NULL, first NUMBER NOT NULL, n NUMBER NOT NULL, key TEXT NOT NULL, signature DATA NOT NULL,
    PRIMARY KEY (stream, n)
)"""


@dataclass(frozen=True, slots=True)
class SignedStream:
    """How far a stream is signed.

    Args:
        stream: its name.
        entries: how many it has.
        first, last: the first and the last entry that signatures vouch for; 0 for none. What comes before the first was
            written before there was a key.
        key: the key of the last signature.
    """

    stream: str
    entries: int
    first: int
    last: int
    key: str

    def to_dict(self) -> dict[str, object]:
        """Return all fields as JSON values."""
        return asdict(self)


def newest(db: Transaction) -> int:
    """Return the row of the entry that was written last."""
    return int(db.execute("SELECT coalesce(max(id), 0) FROM entries").fetchone()[0])


def written_since(db: Transaction, row: int) -> list[tuple[Head, int, bool]]:
    """Return the heads of the streams that entries were added to, the first entry of each, whether one decides."""
    found: dict[str, tuple[Head, int, bool]] = {}
    rows = db.execute("SELECT stream, n, hash, kind = 'decision' FROM entries WHERE id > ? ORDER BY id", (row,))
    for stream, n, hashed, decides in rows:
        before = found.get(stream)
        first, decided = (before[1], before[2]) if before else (n, False)
        found[stream] = Head(stream, n, hashed), first, decided or bool(decides)
    return list(found.values())


def make_table(db: Transaction, form: TableForm) -> None:
    """Make the table where it is missing."""
    db.execute(f"CREATE TABLE IF NOT EXISTS {_TABLE} {form.columns(_COLUMNS)}{form.keyed}")


def all_signatures(db: Transaction, form: TableForm) -> Iterable[Row]:
    """Return the rows of the table, which may be missing."""
    return db.execute(f"SELECT * FROM {_TABLE}") if db.execute(form.exists, (_TABLE,)).fetchone() else ()  # noqa: S608 - constant


def prepare(db: Transaction, form: TableForm, signer: Signer, now: str, accepted: Collection[str] = ()) -> str:
    """Make the table where it is missing, and put on record which key signs from now on; inside a transaction.

    Args:
        db, form: the ledger.
        signer: signs.
        now: when, ISO 8601, UTC.
        accepted: keys of others that are known here from now on.

    Returns:
        The key that signed before; empty for none.
    """
    make_table(db, form)
    end = head(db, KEYS)
    before = str(entries(db, KEYS, end.n - 1, 1)[0].data.get("key", "")) if end.n else ""
    if before != signer.public:
        more = {"accepted": sorted(accepted)} if accepted else {}
        write_entry(db, KEYS, "audit_key", {"key": signer.public, "before": before, **more}, now)
    return before


def signing_keys(db: Transaction, form: TableForm) -> list[str]:
    """Return all keys that signed something."""
    if not db.execute(form.exists, (_TABLE,)).fetchone():
        return []
    return [str(key) for (key,) in db.execute(f"SELECT DISTINCT key FROM {_TABLE} ORDER BY key").fetchall()]  # noqa: S608


def accepted_entry(signer: Signer, key: str, by: str) -> tuple[str, dict[str, object]]:
    """Return kind and data of the entry of `KEYS` that says that a key of another account was accepted.

    Args:
        signer: signs it; as with every entry of that stream `key` is the one that signs from then on.
        key: what was accepted.
        by: who did.
    """
    return "audit_key_accepted", {"key": signer.public, "accepted": [key], "by": by}


def sign(db: Transaction, signer: Signer, heads: Iterable[tuple[Head, int, bool]]) -> None:
    """Sign heads, inside the transaction that wrote them."""
    db.executemany(
        "INSERT INTO signatures VALUES (?, ?, ?, ?, ?)",
        [(h.stream, first, h.n, signer.public, signer.sign(h.stream, h.n, h.hash)) for h, first, _ in heads],
    )


def signed_streams(
    db: Transaction, form: TableForm, known: KnownSignatures, ledger: Place, only: str | None = None
) -> tuple[list[SignedStream], list[Problem]]:
    """Compare signatures with the entries.

    Args:
        db: the ledger.
        form: how its tables are written.
        known: keys that are known here, and ledgers that are known to be signed.
        ledger: what the ledger is known by.
        only: one stream; None for all.
    """
    there = db.execute(form.exists, (_TABLE,)).fetchone()
    since, keys = known.since(ledger), known.keys_of(ledger)
    began = db.execute("SELECT min(id) FROM entries WHERE stream = ?", (KEYS,)).fetchone()[0]
    problems = _cut_off(db, known.heads_of(ledger).values(), only)
    if since and (not there or began is None):
        what = Message("This record is signed since {}, but its signatures are gone.", since)
        return [], [Problem("", 0, what), *problems]
    if not there:
        return [], problems
    found = []
    streams = db.execute(
        "SELECT stream, max(n), max(id) FROM entries WHERE CAST(?1 AS TEXT) IS NULL OR stream = ?1 GROUP BY stream",
        (only,),
    ).fetchall()
    for stream, count, last_row in streams:
        one, covered = _checked(db, stream, count, keys, problems)
        found.append(one)
        if covered < count and began is not None and last_row > began and not _damaged(problems, stream):
            span = str(count) if covered + 1 == count else f"{covered + 1} to {count}"
            if covered:
                what = Message("Entry {} isn't signed though those before are.", span)
            else:
                what = Message("Entry {} isn't signed though the record is.", span)
            problems.append(Problem(stream, covered + 1, what))
    return found, problems


def _cut_off(db: Transaction, heads: Iterable[Head], only: str | None) -> list[Problem]:
    """Return a problem for each stream that doesn't have the entry that this account wrote to it last."""
    found = []
    for last in heads:
        row = db.execute("SELECT hash FROM entries WHERE stream = ? AND n = ?", (last.stream, last.n)).fetchone()
        if only in (None, last.stream) and (row is None or row[0] != last.hash):
            what = Message("Entry {} was written here and is now missing or different.", last.n)
            found.append(Problem(last.stream, last.n, what))
    return found


def _damaged(problems: Iterable[Problem], stream: str) -> bool:
    return any(problem.stream == stream and not problem.key for problem in problems)


def _checked(
    db: Transaction, stream: str, count: int, keys: Collection[str], problems: list[Problem]
) -> tuple[SignedStream, int]:
    """Return how far a stream is signed by keys that are known, and by any.

    The last signature of a known key vouches for everything before it. What comes after it and is signed by others is a
    problem for each of those.
    """
    first, last, key, covered, faults = 0, 0, "", 0, 0
    others = set[str]()
    rows = db.execute(
        "SELECT s.first, s.n, s.key, s.signature, e.hash FROM signatures s"
        " LEFT JOIN entries e ON e.stream = s.stream AND e.n = s.n WHERE s.stream = ? ORDER BY s.n DESC",
        (stream,),
    )
    for begins, n, by, signature, hashed in rows:
        if hashed is None:
            problems.append(Problem(stream, n, Message("Entry {} was signed and is gone.", n)))
            faults += 1
        elif not verifies(by, signature, stream, n, hashed):
            problems.append(
                Problem(stream, n, Message("Entry {} isn't what was signed: its signature doesn't fit.", n))
            )
            faults += 1
        else:
            covered = covered or n
            if not keys or by in keys:
                last, key, first = n, by, begins
                break
            if by not in others:
                others.add(by)
                problems.append(Problem(stream, n, _made_elsewhere(n, by), by))
        if faults > 50:
            break
    if last:
        first = int(db.execute("SELECT min(first) FROM signatures WHERE stream = ?", (stream,)).fetchone()[0])
    return SignedStream(stream, count, first, last, key), covered


def _made_elsewhere(n: int, key: str) -> Message:
    return Message(
        "Entry {} is signed by the key {}, which isn't known here: another account or HOME made it. If it is yours: {}",
        n,
        shown_key(key),
        accept_command(key),
    )
