"""Where task checkpoints lie: a `.masc` folder, its store, its policy, and which of them this machine knows."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from hitl_tui.config.atomic_files import make_private, write_atomically
from hitl_tui.config.paths import given_path
from hitl_tui.core.errors import BadInput, StorageError
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import Policy
from hitl_tui.core.safe_text import one_line
from hitl_tui.ledger.entry_files import EntryFiles
from hitl_tui.ledger.existing_record import has_record
from hitl_tui.ledger.stream_ledger import StreamLedger

if TYPE_CHECKING:
    from hitl_tui.ledger.neo4j_entries import Neo4jServer
    from hitl_tui.policy.workspace_trust import WorkspaceTrust

NAME = ".masc"
BACKEND, NEO4J = "MASC_CHECKPOINT_BACKEND", "NEO4J_URI"
_KNOWN = "task_folders"
_SETTINGS = "hitl.toml"


def masc_folder(given: str | None, start: Path | None = None) -> Path:
    """Return the folder that is given, else the nearest `.masc` from a folder upwards, else a new one there.

    Args:
        given: the folder; None where none is.
        start: where to look first; None for the current folder.

    Raises:
        BadInput: what is given can't be a folder, or the current folder is gone.
    """
    if given is not None:
        if not given.strip():
            raise BadInput(Message("--masc-dir needs a folder."))
        folder = given_path(given).absolute()
        if folder.exists() and not folder.is_dir():
            raise BadInput(Message("{} isn't a folder.", folder))
        return folder
    try:
        here = start.absolute() if start is not None else Path.cwd()
    except FileNotFoundError as error:
        raise BadInput(Message("The current folder no longer exists; change to another.")) from error
    return next((place / NAME for place in (here, *here.parents) if (place / NAME).is_dir()), here / NAME)


def store_of(masc: Path, environ: Mapping[str, str], changed: Callable[[], None] | None = None) -> StreamLedger:
    """Return the store of a `.masc` folder (M3): its files, or the Neo4j that the environment names.

    Neo4j is asked when something is read or written. Where it can't be reached that fails: nothing stands in for it.

    Args:
        changed: called when requests were opened, decided or superseded.

    Raises:
        BadInput: the environment names another backend, or Neo4j with no address.
    """
    if uses_neo4j(environ):
        # The driver takes longer to import than a command on files takes altogether.
        from hitl_tui.ledger.neo4j_entries import Neo4jEntries
        from hitl_tui.task_checkpoints.neo4j_views import CheckpointViews

        return StreamLedger(Neo4jEntries(server_of(environ), CheckpointViews()), changed)
    return StreamLedger(EntryFiles(entries_folder(masc)), changed)


def server_of(environ: Mapping[str, str]) -> Neo4jServer:
    """Return the Neo4j server that the environment names.

    Raises:
        BadInput: it names none.
    """
    from hitl_tui.ledger.neo4j_entries import Neo4jServer

    uri = environ.get(NEO4J, "").strip()
    if not uri:
        raise BadInput(Message("{}=neo4j needs {}, such as {}.", BACKEND, NEO4J, "bolt://localhost:7687"))
    password = environ.get("NEO4J_PASSWORD", "")
    user = environ.get("NEO4J_USER") or environ.get("NEO4J_USERNAME") or ("neo4j" if password else "")
    return Neo4jServer(uri, user, password, environ.get("NEO4J_DATABASE", ""))


def uses_neo4j(environ: Mapping[str, str]) -> bool:
    """Return whether the environment says Neo4j, which is one store for all folders.

    Raises:
        BadInput: it names another backend.
    """
    chosen = environ.get(BACKEND, "").strip().lower() or "auto"
    if chosen not in ("auto", "filesystem", "neo4j"):
        raise BadInput(Message('{} must be auto, filesystem or neo4j, not "{}".', BACKEND, one_line(chosen, 40)))
    return chosen == "neo4j" or (chosen == "auto" and bool(environ.get(NEO4J, "").strip()))


def entries_folder(masc: Path) -> Path:
    """Return where the files of a `.masc` folder lie."""
    return masc / "state" / "checkpoints"


def written_at(masc: Path) -> int:
    """Return when anybody wrote into a `.masc` folder last, in nanoseconds; 0 while nobody did."""
    try:
        return entries_folder(masc).stat().st_mtime_ns
    except OSError:
        return 0


def policy_of(masc: Path) -> Policy:
    """Return the rules of the workspace that a `.masc` folder lies in: those that ask or deny, trusted or not.

    Raises:
        ConfigError: its settings can't be used.
    """
    if not (masc.parent / _SETTINGS).exists():
        return Policy()
    # Reading settings takes longer than all the rest of a command that records a step.
    from hitl_tui.config.loader import content_of, parse_content
    from hitl_tui.policy.workspace_trust import restricted

    return restricted(parse_content(content_of(masc.parent / _SETTINGS))).policy


def held_policy(masc: Path, data: Path) -> Policy:
    """Return the rules that hold for steps of a `.masc` folder: who edits a trusted folder loosens none of them.

    Args:
        masc: the folder.
        data: the data folder, which knows what was trusted.

    Raises:
        ConfigError: its settings can't be used; StorageError: the record of trust can't.
    """
    # A command that asks nobody needs no trust, and whoever asks waits anyway.
    return held_under(masc, trust_of(masc, data) if has_record(data, os.environ) else None)


def held_under(masc: Path, trust: WorkspaceTrust | None) -> Policy:
    """Return the rules that hold for steps of a `.masc` folder with the trust that there is in it; None for none ever.

    Until edited settings are trusted again, the stricter of what was trusted and what is there now counts, as in
    sessions.

    Raises:
        ConfigError: its settings can't be used.
    """
    now = policy_of(masc)
    if trust is None or not trust.changed or trust.trusted_policy is None:
        return now
    from hitl_tui.policy.workspace_trust import stricter_of

    return stricter_of(trust.trusted_policy, now, trust.digest)


def trust_of(masc: Path, data: Path) -> WorkspaceTrust:
    """Return the trust in the workspace of a `.masc` folder. Raises as `held_policy` does."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    from hitl_tui.policy.trust_book import trust_in

    with ThreadPoolExecutor(1) as pool:  # there may be a loop in this thread
        return pool.submit(lambda: asyncio.run(trust_in(masc.parent, data))).result()


def register(data: Path, masc: Path) -> None:
    """Note in the data folder that there is such a folder, so that what waits in it is seen.

    Raises:
        StorageError: it can't be noted.
    """
    text = str(masc)
    note = data / _KNOWN / hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:24]
    try:
        if not note.exists():
            make_private(note.parent)
            write_atomically(note, text.encode(errors="surrogateescape"))
    except OSError as error:
        raise StorageError(Message("{} can't be written: {}.", note, error.strerror)) from error


def registered(data: Path) -> list[Path]:
    """Return the folders that were noted and are still there."""
    found: list[Path] = []
    for note in sorted((data / _KNOWN).glob("*")) if (data / _KNOWN).is_dir() else ():
        try:
            path = Path(note.read_bytes().decode(errors="surrogateescape"))
        except OSError:
            continue
        if path.is_absolute() and path.is_dir():
            found.append(path)
    return found
