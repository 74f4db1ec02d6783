"""`SessionTrace`: a session as spans: what planned it, each step, each node of its team, and each wait for a person.

All but what happens within one process is read from the record: the process that goes on after a crash tells of the
rest under the same trace, and of what the one before couldn't send any more.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

from hitl_tui.core.errors import HitlError
from hitl_tui.core.events import EventKind, utc_now
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import mask, one_line
from hitl_tui.core.supersession import Supersession
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.ledger.protocols import read_stream
from hitl_tui.ledger.records import Entry
from hitl_tui.supervisor.activity import ActivityStream
from hitl_tui.supervisor.session_setup import SessionSetup
from hitl_tui.supervisor.session_view import SessionView
from hitl_tui.supervisor.snapshot import Snapshot
from hitl_tui.tracing.spans import Attribute, Span, SpanExport, made_id, wants_spans, why_unsent

log = logging.getLogger(__name__)

FILE = "spans.sent"
"""What has arrived, a line each: nothing that the record tells is sent twice, nor forgotten."""
_LONGEST = 200
_ENDED = (Status.COMPLETED, Status.SKIPPED, Status.FAILED)
_opened: list[SpanExport] = []


def span_export(activity: ActivityStream) -> SpanExport | None:
    """Return this process's export of spans; None where nobody wants them, or where they can't be sent, which is said.

    Args:
        activity: where that is said.
    """
    if not wants_spans(os.environ):
        return None
    if not _opened:
        why = why_unsent(os.environ)
        if why:
            log.warning("%s", why)
            activity.write("", "note", why)
            return None
        from hitl_tui.tracing.otlp_export import OtlpExport

        _opened.append(OtlpExport())
    return _opened[0]


@dataclass(slots=True)
class _Wait:
    """A question that is open: what it asks, of which step, since when."""

    kind: str
    todo_id: str
    branch: int
    began: str
    tool: str = ""


class SessionTrace:
    """The spans of one session that this process owns.

    Args:
        setup: the session.
        export: where they go.
        activity: where it is said that they don't arrive.
    """

    def __init__(self, setup: SessionSetup, export: SpanExport, activity: ActivityStream) -> None:
        info = setup.info
        self._setup = setup
        self._export = export
        self._activity = activity
        self._trace = made_id(128, "trace", info.lineage, info.id)
        self._root = made_id(64, "session", info.lineage, info.id)
        self._path = setup.folder.path / FILE
        self._sent = _lines(self._path)
        self._lock = Lock()
        self._told = False
        self._read = 0
        self._waits: dict[str, _Wait] = {}
        self._since: dict[tuple[str, int], str] = {}
        self._effects: dict[str, Entry] = {}
        self._ended_as: dict[str, object] = {}
        self._missed = False
        self._last = info.created
        self._steps: dict[str, tuple[int, str, str]] = {}
        if setup.planned is not None:
            made = made_id(64, self._trace, "plan")
            self._once("plan", made, self._root, *setup.planned, {"hitl.query": info.query})

    # What is told -----------------------------------------------------------------------------------------------

    @contextmanager
    def planning(self, what: str, todo: SupervisorTodo | None) -> Iterator[None]:
        """Tell of a call of the planner; see `planning.agent.Watch`."""
        began, failed = utc_now(), ""
        try:
            yield
        except Exception as error:
            failed = type(error).__name__
            raise
        finally:
            if what != "plan" or self._setup.planned is None or failed:  # that was told of when it was made
                parent = self._todo_span(todo.id, _branch_of(todo.run_id)) if todo is not None else self._root
                self._tell(what, parent, began, utc_now(), {}, failed)

    def node(self, todo: SupervisorTodo, namespace: tuple[str, ...], data: Mapping[str, Any]) -> None:
        """Tell of a node of a team's graph: LangGraph says when its task begins, and when it ends.

        Args:
            todo: the step.
            namespace: of the subgraph that it is in.
            data: of LangGraph's `tasks` stream.
        """
        task = str(data["id"])
        if "input" in data:
            self._steps[task] = secrets.randbits(64) or 1, utc_now(), _called(data["input"])
            return
        made, began, tool = self._steps.pop(task, (0, "", ""))
        if not made:
            return
        above = namespace[-1].rpartition(":")[2] if namespace else ""
        parent = self._steps[above][0] if above in self._steps else self._todo_span(todo.id, _branch_of(todo.run_id))
        about: dict[str, Attribute] = {"hitl.todo": todo.id, "hitl.attempt": todo.attempt}
        if data.get("interrupts"):
            about["hitl.interrupted"] = True
        if tool:
            about["gen_ai.tool.name"] = tool
        failed = str(data["error"]).partition("(")[0] if data.get("error") else ""
        self._tell(str(data["name"]), parent, began, utc_now(), about, failed, span_id=made)

    async def look(self, seen: Snapshot) -> None:
        """Tell of what has ended by now."""
        await self._read_on()
        asked = {question.todo_id for question in seen.questions}
        if self._missed:
            self._missed = False
            self._ended_as.clear()
        for todo_id, raw in seen.raw.items():
            if raw["status"] not in _ENDED or self._ended_as.get(todo_id) is raw:
                continue
            if raw["status"] != Status.FAILED or (seen.at_rest and todo_id not in asked):
                await self._ended(SupervisorTodo.from_state(raw))
                self._ended_as[todo_id] = raw
        if seen.concluded and not seen.questions:
            about: dict[str, Attribute] = {"hitl.query": seen.query, "hitl.steps": len(seen.raw)}
            self._once("session", self._root, 0, self._setup.info.created, self._last, about)

    async def _read_on(self) -> None:
        async for entry in read_stream(self._setup.ledger, self._setup.info.id, self._read):
            self._read, data = entry.n, entry.data
            if entry.kind == "request_opened":
                request = data["request"]
                tool = _tool_of(request["subject"].get("value"))
                wait = _Wait(str(request["kind"]), str(request["todo_id"]), int(request["branch"]), entry.at, tool)
                self._waits[str(request["id"])] = wait
                if wait.todo_id:
                    self._since.setdefault((wait.todo_id, wait.branch), entry.at)
            elif entry.kind == "request_superseded":
                gone = Supersession.from_dict(data["reason"])
                self._waited(str(data["request_id"]), entry.at, {"hitl.verdict": "superseded", "hitl.by": gone.by})
            elif entry.kind == "event" and data["event"].get("kind") == EventKind.DECIDED:
                event = data["event"]
                how = {"hitl.verdict": event["verdict"], "hitl.by": event["by"], "hitl.channel": event["channel"]}
                if event.get("action"):
                    how["hitl.action"] = event["action"]
                if changes := _numbers(_part(event.get("value"), "changes")):
                    how["hitl.changes"] = changes
                self._waited(str(event["request_id"]), str(event["at"]), how)
            elif entry.kind == "event" and data["event"].get("kind") == EventKind.CONTINUED:
                event = data["event"]
                self._stopped(event["data"], str(event["at"]))
            elif entry.kind == "effect_started":
                self._effects[str(data["key"])] = entry
            elif entry.kind == "effect_ended" and (began := self._effects.pop(str(data["key"]), None)) is not None:
                self._effect(began, entry)

    def _stopped(self, stopped: Mapping[str, Any], at: str) -> None:
        """Tell of a step that nobody worked on, from the last sign of the process that ended until another took it."""
        run = str(stopped["run_id"])
        parent = self._todo_span(str(stopped["todo_id"]), _branch_of(run))
        made = made_id(64, self._trace, "stopped", run, at)
        about: dict[str, Attribute] = {"hitl.todo": str(stopped["todo_id"]), "hitl.run": run}
        self._once("stopped", made, parent, str(stopped["since"]) or at, at, about)

    def _effect(self, began: Entry, ended: Entry) -> None:
        todo_id, name = str(began.data["todo_id"]), str(began.data["name"])
        parent = self._todo_span(todo_id, int(began.data["branch"]))
        made = made_id(64, self._trace, "effect", began.n)
        about: dict[str, Attribute] = {
            "hitl.todo": todo_id,
            "hitl.effect": name,
            "hitl.outcome": str(ended.data["status"]),
        }
        self._once(f"effect: {name.rpartition('/')[2]}", made, parent, began.at, ended.at, about)

    def _waited(self, request_id: str, ended: str, how: Mapping[str, Attribute]) -> None:
        wait = self._waits.pop(request_id, None)
        if wait is None:
            return
        parent = self._todo_span(wait.todo_id, wait.branch) if wait.todo_id else self._root
        about = {"hitl.asked": wait.kind, "hitl.todo": wait.todo_id, "hitl.request": request_id, **how}
        if wait.tool:
            about["gen_ai.tool.name"] = wait.tool
        made = made_id(64, self._trace, request_id)
        self._once(f"wait for a person: {wait.kind}", made, parent, wait.began, ended, about)

    async def _ended(self, todo: SupervisorTodo) -> None:
        branch = _branch_of(todo.run_id)
        began = min(filter(None, (self._since.get((todo.id, branch), ""), todo.started_at)), default=todo.completed_at)
        ended = todo.completed_at or began
        if not ended or ended < self._setup.info.created:  # it was copied with the session that it ran in
            return
        made, self._last = self._todo_span(todo.id, branch), max(self._last, ended)
        if _key(made, ended) in self._sent:
            return
        rejected = bool(todo.metadata.get("rejected"))
        about: dict[str, Attribute] = {
            "hitl.todo": todo.id,
            "hitl.agent": todo.agent_name,
            "hitl.status": "rejected" if rejected else todo.status.value,
            "hitl.risk": todo.risk.value,
            "hitl.attempts": todo.attempt,
            "hitl.waited": todo.waited,
            **await self._used(todo.id),
        }
        failed = str(todo.error) if todo.status is Status.FAILED and not rejected else ""
        self._once(todo.name, made, self._root, began, ended, about, failed)

    async def _used(self, todo_id: str) -> dict[str, Attribute]:
        model = self._setup.model
        used = await model.used_by(todo_id) if model is not None else None
        if used is None:
            return {}
        found: dict[str, Attribute] = {
            "gen_ai.usage.input_tokens": used.input_tokens,
            "gen_ai.usage.output_tokens": used.output_tokens,
        }
        return found | ({"hitl.cost": used.cost} if used.cost else {})

    def _todo_span(self, todo_id: str, branch: int) -> int:
        return made_id(64, self._trace, todo_id, branch)

    # How it is told ---------------------------------------------------------------------------------------------

    def _once(
        self,
        name: str,
        span_id: int,
        parent: int,
        began: str,
        ended: str,
        about: Mapping[str, Attribute],
        failed: str = "",
    ) -> None:
        """Send what the record tells, unless it arrived before; what doesn't arrive is sent again at the next look."""
        self._last, key = max(self._last, ended), _key(span_id, ended)
        with self._lock:
            if key in self._sent:
                return
            self._sent.add(key)
        self._send(Span(name, self._trace, span_id, parent, began, ended, about, failed), partial(self._arrived, key))

    def _tell(
        self,
        name: str,
        parent: int,
        began: str,
        ended: str,
        about: Mapping[str, Attribute],
        failed: str = "",
        *,
        span_id: int = 0,
    ) -> None:
        """Send what only this process knows."""
        made = span_id or secrets.randbits(64) or 1
        self._send(Span(name, self._trace, made, parent, began, ended, about, failed), self._heard)

    def _send(self, span: Span, done: Callable[[bool], None]) -> None:
        def clean(text: str) -> str:
            return one_line(mask(text, self._setup.secrets), _LONGEST)

        about = {name: clean(value) if isinstance(value, str) else value for name, value in span.attributes.items()}
        about = {"hitl.session": self._setup.info.id, **{name: value for name, value in about.items() if value != ""}}
        self._export.send(
            Span(clean(span.name), span.trace, span.id, span.parent, span.began, span.ended, about, clean(span.failed)),
            done,
        )

    def _arrived(self, key: str, arrived: bool) -> None:
        if arrived:
            with self._lock, self._path.open("a", encoding="ascii") as file:
                file.write(f"{key}\n")
        else:
            with self._lock:
                self._sent.discard(key)
                self._missed = True
        self._heard(arrived)

    def _heard(self, arrived: bool) -> None:
        if not arrived and not self._told:
            self._told = True
            self._activity.write("", "note", Message("Traces don't arrive where OTEL_EXPORTER_OTLP_ENDPOINT says."))

    async def flush(self) -> None:
        """Wait a moment for what was sent to arrive."""
        await asyncio.to_thread(self._export.flush)


@asynccontextmanager
async def traced(session: SessionView, trace: SessionTrace | None) -> AsyncIterator[None]:
    """Tell of a session while it is open.

    Args:
        session: which.
        trace: its spans; None for none.
    """
    if trace is None:
        yield
        return
    watching = asyncio.create_task(_watch(session, trace), name=f"trace {session.id}")
    session.setup.planner.watch(trace.planning)
    try:
        yield
    finally:
        watching.cancel()
        await asyncio.wait({watching})
        try:
            await trace.look(session.snapshot)
        except HitlError as error:
            log.warning("the trace of %s ends: %s", session.id, error.message)
        await trace.flush()


async def _watch(session: SessionView, trace: SessionTrace) -> None:
    seen = session.snapshot
    try:
        while True:
            await trace.look(seen)
            seen = await session.changed(seen)
    except HitlError as error:
        log.info("the trace of %s ends: %s", session.id, error.message)
    except Exception:
        log.exception("trace of %s", session.id)


def _branch_of(run_id: str) -> int:
    """Return the branch that a run was on; 0 for the id of none."""
    number = run_id.rpartition("/")[2].partition(".")[0]
    return int(number) if number.isascii() and number.isdigit() else 0


def _part(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, Mapping) else None


def _tool_of(call: object) -> str:
    """Return the name of the tool that is called, in the form of LangChain's calls; empty for anything else."""
    return str(_part(call, "name")) if isinstance(_part(call, "args"), Mapping) and _part(call, "name") else ""


def _called(given: object) -> str:
    """Return the names of the tools that a node is to call, where its input is LangChain's calls."""
    calls = given if isinstance(given, list) else [_part(given, "tool_call")]
    return ", ".join(filter(None, map(_tool_of, calls)))


def _numbers(changes: object) -> str:
    """Return the numbers of the changes of a proposal that were accepted; empty for all of them."""
    return ", ".join(map(str, changes)) if isinstance(changes, list) else ""


def _key(span_id: int, ended: str) -> str:
    return f"{span_id:016x} {ended}"


def _lines(path: Path) -> set[str]:
    try:
        return set(path.read_text(encoding="ascii").splitlines())
    except (OSError, ValueError):
        return set()
