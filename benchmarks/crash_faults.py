"""Where a process may die: before, within and after everything that is durable, and every effect.

The wrappers are put around the product's functions in the driving process only; the product has no hooks. Points are
named by their label and how often it was met before: `saver.aput.after#12`.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any

from hitl_tui.ledger import effect_tables, sqlite_database
from hitl_tui.ledger.sqlite_ledger import SqliteLedger
from hitl_tui.supervisor.activity import ActivityStream
from hitl_tui.supervisor.checkpoint_saver import SessionSaver
from hitl_tui.supervisor.dispatcher import LedgerEffects, LocalDispatcher

ALIVE = "command.alive"


@dataclass
class Faults:
    """Counts points and dies at one of them.

    Args:
        kill_at: name of the point to die at, `any#N` for the one that is met as the Nth; empty for never.
        record: file that gets a line about each death and each stopped run.
        met: names of the points that were met, in order.
        flying: keys of effects that have begun and not ended, as this process knows.
        on_alive: called with each TODO whose command has acted.
        dying: called before the death.
        fine: the transactions that claim and close effects are points of their own, besides being the ledger's.
    """

    kill_at: str
    record: Path
    met: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    flying: set[str] = field(default_factory=set)
    on_alive: Callable[[str], None] = lambda todo_id: None
    dying: Callable[[], object] = lambda: None
    fine: bool = False
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def point(self, label: str) -> None:
        """Meet a point; this returns unless it is the one to die at."""
        with self._lock:
            self.counts[label] += 1
            name = f"{label}#{self.counts[label]}"
            self.met.append(name)
            if self.kill_at in (name, f"any#{len(self.met)}"):
                self.die(name)

    def die(self, name: str) -> None:
        """Note the death and die."""
        self.dying()
        self.note("killed", name)
        os.kill(os.getpid(), signal.SIGKILL)
        signal.pause()

    def note(self, what: str, at: str) -> None:
        """Write durably which effects an interruption may have cut off."""
        line = {"what": what, "at": at, "flying": sorted(self.flying)}
        handle = os.open(self.record, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(handle, json.dumps(line).encode() + b"\n")
        os.close(handle)


_CURRENT: list[Faults] = []


def use(faults: Faults) -> Faults:
    """Make these the faults that `current` returns; return them."""
    _CURRENT[:] = [faults]
    return faults


def current() -> Faults:
    """Return the faults of this process."""
    return _CURRENT[0]


def install(faults: Faults) -> None:
    """Put the wrappers around everything durable, for the rest of this process's life."""
    _wrap_ledger(faults)
    _wrap_saver(faults)
    _wrap_files(faults)
    wrap_effects(faults)
    wrap_runs(faults)


def _wrap_ledger(faults: Faults) -> None:
    once, begin_effect, end_effect = sqlite_database._once, effect_tables.begin, effect_tables.end
    ending: list[str] = []
    claimed: list[str] = []

    def spied_once(db: sqlite3.Connection, begin: str, work: Callable[[sqlite3.Connection], Any]) -> Any:
        if begin != "BEGIN IMMEDIATE":
            return once(db, begin, work)

        def within(inner: sqlite3.Connection) -> Any:
            result = work(inner)
            faults.point("ledger.within")
            return result

        faults.point("ledger.before")
        result = once(db, begin, within)
        faults.flying.difference_update(ending)
        closed, ahead = bool(ending), bool(claimed)
        ending.clear()
        claimed.clear()
        faults.point("ledger.after")
        if faults.fine and (closed or ahead):
            faults.point("effect.closed" if closed else "effect.claimed")
        return result

    def spied_begin(*args: Any) -> Any:
        claim = begin_effect(*args)
        if claim.verdict == "go":
            faults.flying.add(args[1].key)
            claimed.append(args[1].key)
        return claim

    def spied_end(*args: Any) -> None:
        end_effect(*args)
        ending.append(args[1])

    sqlite_database._once = spied_once  # type: ignore[assignment]
    effect_tables.begin = spied_begin
    effect_tables.end = spied_end


def _wrap_saver(faults: Faults) -> None:
    for owner, room, name in (
        (SessionSaver, "saver", "aput"),
        (SessionSaver, "saver", "aput_writes"),
        (SqliteLedger, "ledger", "begin_restore"),
        (SqliteLedger, "ledger", "finish_restore"),
    ):
        setattr(owner, name, around(faults, getattr(owner, name), f"{room}.{name}"))


def around(faults: Faults, inner: Callable[..., Awaitable[Any]], label: str) -> Callable[..., Awaitable[Any]]:
    @wraps(inner)
    async def spied(*args: Any, **more: Any) -> Any:
        faults.point(f"{label}.before")
        result = await inner(*args, **more)
        faults.point(f"{label}.after")
        return result

    return spied


def _wrap_files(faults: Faults) -> None:
    """Every file that Python code makes durable: session.json, artifacts, the ledger's own making."""
    for owner, name in ((os, "fsync"), (os, "link"), (os, "mkdir"), (Path, "replace")):
        setattr(owner, name, around_call(faults, getattr(owner, name), f"file.{name}"))


def around_call(faults: Faults, inner: Callable[..., Any], label: str) -> Callable[..., Any]:
    @wraps(inner)
    def spied(*args: Any, **more: Any) -> Any:
        faults.point(f"{label}.before")
        result = inner(*args, **more)
        faults.point(f"{label}.after")
        return result

    return spied


def wrap_effects(faults: Faults) -> None:
    call = LedgerEffects.__call__

    async def spied(self: LedgerEffects, name: str, subject: Any, act: Callable[[], Awaitable[dict[str, Any]]]) -> Any:
        return await call(self, name, subject, around(faults, act, f"effect.{name}"))

    LedgerEffects.__call__ = spied  # type: ignore[method-assign]


def wrap_runs(faults: Faults) -> None:
    stop, write = LocalDispatcher.stop, ActivityStream.write

    async def spied_stop(self: LocalDispatcher, run_id: str) -> bool:
        faults.note("stopped", run_id)
        return await stop(self, run_id)

    def spied_write(self: ActivityStream, todo_id: str, kind: str, text: str, fraction: float = -1.0) -> None:
        write(self, todo_id, kind, text, fraction)
        if text == "acted":
            faults.point(ALIVE)
        if text == "acted" or "still alive" in text:
            faults.on_alive(todo_id)

    LocalDispatcher.stop = spied_stop  # type: ignore[method-assign]
    ActivityStream.write = spied_write  # type: ignore[method-assign]
