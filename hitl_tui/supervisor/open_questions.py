"""`OpenQuestions`: what a session asks now, opened, previewed and superseded in the ledger."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from hitl_tui.core.board import Board, Draft, Rules
from hitl_tui.core.errors import BadInput, HitlError, UnknownName
from hitl_tui.core.events import EventKind, seconds_between
from hitl_tui.core.fold_operator_events import goes_on
from hitl_tui.core.interrupts.recognition import form_of, title_of
from hitl_tui.core.json_text import canonical, key_order
from hitl_tui.core.json_types import EventData, Json, JsonObject
from hitl_tui.core.messages import Message, word
from hitl_tui.core.names import plain_name
from hitl_tui.core.question_follower import QuestionFollower
from hitl_tui.core.questions import MOST_CHANGED, question_of
from hitl_tui.core.requests import Kind, Outcome, Request
from hitl_tui.core.safe_text import mask_json, one_line, unsafe_text
from hitl_tui.core.supersession import Cause
from hitl_tui.core.todos import SupervisorTodo, programs_of
from hitl_tui.ledger.protocols import read_stream
from hitl_tui.ledger.records import RequestView, decided_event
from hitl_tui.supervisor.activity import ActivityStream, earlier_run
from hitl_tui.supervisor.asked_requests import AskedRequests
from hitl_tui.supervisor.bound_files import bind_again
from hitl_tui.supervisor.graph_findings import findings_in
from hitl_tui.supervisor.ledger_writer import with_opening_times
from hitl_tui.supervisor.run_spec import PostEvent
from hitl_tui.supervisor.schema_library import load_validators
from hitl_tui.supervisor.session_setup import SessionSetup
from hitl_tui.supervisor.snapshot import Question, has_preview
from hitl_tui.teams.contract import (
    FilePreview,
    OutputPreview,
    PlannedQuery,
    PreviewContext,
    QueryPreview,
    Team,
    TeamResult,
)

log = logging.getLogger(__name__)

_IDLE_WAIT = 2.0
_DEADLINE_WAIT = 0.2
_SHOWN_FINDINGS = 5
_MOST_QUERIES = 50
"""Steps of a plan whose queries are worked out before it is approved: each takes a part of a second."""


def _with_risk(request: Request) -> Request:
    """Return a request with the risk of what it asks: an action on the world within a step is of high risk itself."""
    if request.kind is not Kind.INTERRUPT:
        return request
    inner = form_of(request).risk
    return replace(request, risk=inner) if inner else request


def _with_team(request: Request, team: Team) -> Request:
    """Return a request that says which arguments are its team's settings, their order there, and why it is risky."""
    given = request.subject.get("arguments")
    about = request.about.copy()
    if request.kind is Kind.INTERRUPT and team.graph is not None:
        first, entered = team.graph.facts.first, about.get("entered", {})
        about["nothing_yet"] = bool(entered) and first.asking.issuperset(request.subject["path"])
        about["nothing_yet"] &= first.computing.issuperset(entered)
        return replace(request, about=about)
    if request.kind not in (Kind.TODO, Kind.FAILURE) or not given:
        return request
    if reason := team.risk_reason(given):
        about["risk_reason"] = reason
    if declared := team.declared_as(given):
        about["declared"] = declared
    if team.previews(given):
        about["previewed"] = True
    if team.graph is not None and request.kind is Kind.TODO:
        about["asks_first"] = bool(team.graph.facts.first.asking)
    if "argv" in given:
        return replace(request, about=about)
    schema = team.input_schema
    about["order"] = key_order(_by_schema(given, schema))
    about["settings"] = [name for name, part in _properties(schema).items() if _is_setting(given.get(name), part)]
    return replace(request, about=about)


def _with_settings(request: Request, team: Callable[[str], Team]) -> Request:
    """Return a question about several steps that says which of their arguments are settings of their teams."""
    about = request.about.copy()
    steps = {name: shown.copy() for name, shown in about.get("steps", {}).items()}
    for todo_id, name, arguments, _needed in _steps_of(request):
        if _tells_queries(team(name), arguments):
            about["previewed"] = True
        parts = _properties(team(name).input_schema)
        steps.setdefault(todo_id, {})["settings"] = [
            key for key, p in parts.items() if _is_setting(arguments.get(key), p)
        ]
    about["steps"] = steps
    return replace(request, about=about)


def _steps_of(request: Request) -> list[tuple[str, str, JsonObject, Sequence[str]]]:
    """Return id, team, arguments and needed steps of each step that a plan or a proposal would let run."""
    found: list[tuple[str, str, JsonObject, Sequence[str]]] = [
        (step["todo"], step["team"], step["arguments"], step["dependencies"])
        for step in request.subject.get("steps", ())
    ]
    if "proposal" in request.subject:
        todos = [SupervisorTodo.from_dict(c["todo"]) for c in request.subject["proposal"]["changes"] if "todo" in c]
        found += [(todo.id, todo.agent_name, todo.arguments, todo.dependencies) for todo in todos]
    return found


def _tells_queries(team: Team, arguments: JsonObject) -> bool:
    """Return whether a step's queries are told where several steps are asked about: no program is run for that."""
    return team.previews(arguments) and not arguments.get("preview")


def _is_setting(value: Json, part: Mapping[str, Json]) -> bool:
    """Return whether an argument stands where the team would have put it."""
    return bool(part.get("readOnly")) or ("default" in part and part["default"] == value)


def _properties(schema: Json) -> Mapping[str, Mapping[str, Json]]:
    found = schema.get("properties") if isinstance(schema, Mapping) else None
    return {str(k): v for k, v in found.items() if isinstance(v, Mapping)} if isinstance(found, Mapping) else {}


def _by_schema(value: Json, schema: Json) -> Json:
    """Return a value with the fields of its objects as a JSON Schema lists them, and others behind these."""
    if not isinstance(value, Mapping):
        return value
    parts = _properties(schema)
    names = [*(name for name in parts if name in value), *(name for name in value if name not in parts)]
    return {name: _by_schema(value[name], parts.get(name)) for name in names}


async def preview_of(
    setup: SessionSetup, request: Request, arguments: JsonObject, query: str = ""
) -> OutputPreview | QueryPreview | FilePreview | None:
    """Return what a question's step would do with exact arguments; None where its team doesn't know before.

    Args:
        setup: what the session was opened with.
        request: the question.
        arguments: those of its subject, or others.
        query: the session's question.

    Raises:
        BadInput: the preview is a workspace's own code, which isn't trusted.
        HitlError: it can't be found out.
    """
    preview = arguments.get("preview")
    if preview and (
        why := await setup.policy.why_no_preview(str(arguments.get("command", "")), cast("Sequence[str]", preview))
    ):
        raise BadInput(why)

    return await _shown_by(setup, request.source, arguments, request.subject.get("inputs") or {}, query)


async def listed_otherwise(setup: SessionSetup, request_id: str) -> list[str]:
    """Return what a question's preview listed as files, and doesn't list so now; empty where it listed none.

    Args:
        setup: what the session was opened with.
        request_id: the question that was approved.
    """
    view = await setup.ledger.request(request_id, setup.now())
    if view is None or "files" not in view.evidence:
        return []
    request, shown = view.request, view.evidence
    try:
        found = await preview_of(setup, request, request.subject["arguments"])
    except HitlError as error:
        return [error.message]
    return _differing(shown, mask_json(dict(cast("OutputPreview", found)), setup.secrets) if found is not None else {})


def _differing(shown: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return what two previews list as files that isn't the same in both; empty where all is."""
    lines = set(str(shown["text"]).splitlines()) ^ set(str(now.get("text", "")).splitlines())
    same = not lines and all(shown[name] == now.get(name) for name in ("files", "bytes"))
    return [] if same else sorted(lines) or [Message("the files that it lists")]


async def queries_of(setup: SessionSetup, request: Request, results: Mapping[str, str]) -> QueryPreview:
    """Return the queries that the steps of a plan or a proposal would run, each with the id of its step.

    Args:
        setup: what the session was opened with.
        request: the question.
        results: the digests of the results that are there, by TODO.

    Raises:
        HitlError: they can't be found out.
    """
    found: list[PlannedQuery] = []
    steps = [step for step in _steps_of(request) if _tells_queries(setup.team(step[1]), step[2])]
    for todo_id, name, arguments, needed in steps[:_MOST_QUERIES]:
        told = await _shown_by(setup, name, arguments, {key: results.get(key) for key in needed})
        if isinstance(told, QueryPreview):
            found += [{**query, "todo": todo_id} for query in told.queries]
    return QueryPreview(tuple(found), max(0, len(steps) - _MOST_QUERIES))


async def _shown_by(
    setup: SessionSetup, team: str, arguments: JsonObject, seen: Mapping[str, str | None], query: str = ""
) -> OutputPreview | QueryPreview | FilePreview | None:
    """Return what a team shows of exact arguments, with the results of these digests by TODO."""

    async def inputs() -> dict[str, TeamResult]:
        artifacts = setup.folder.artifacts()
        return {key: TeamResult.from_dict(await artifacts.get(str(digest))) for key, digest in seen.items() if digest}

    context = PreviewContext(Path(setup.info.workspace), setup.secrets, query, inputs)
    found = await setup.team(team).preview(arguments, context)
    if isinstance(found, QueryPreview) and not all(seen.values()):
        return QueryPreview(tuple(query if query["awaits"] else _UNREAD_QUERY for query in found.queries[:1]))
    return found


_UNREAD_QUERY = PlannedQuery(tables=[], others=[], words="", sql="", choices=[], awaits=True)
"""Stands for a query that may go on from a result that isn't there yet."""


async def files_of(
    setup: SessionSetup, questions: Iterable[Question], query: str = ""
) -> dict[str, FilePreview | None]:
    """Return by question the file that its step would make; None where that can't be worked out.

    Args:
        setup: what the session was opened with.
        questions: those to look at; of steps that make no file nothing is returned.
        query: the session's question.
    """
    found: dict[str, FilePreview | None] = {}
    for question in questions:
        request, arguments = question.view.request, question.view.request.subject.get("arguments") or {}
        if question.kind is not Kind.TODO:
            continue
        try:
            if not setup.team(request.source).writes(arguments):
                continue
        except UnknownName:
            continue
        try:
            file = await preview_of(setup, request, arguments, query)
        except HitlError:
            file = None
        found[question.id] = file if isinstance(file, FilePreview) else None
    return found


def _asked_ahead(draft: Draft, request: Request) -> bool:
    """Return whether a request for an approval in advance still stands for what would be asked now."""
    if not request.about.get("ahead") or request.todo_id not in draft:
        return False
    question = question_of(draft, draft.get(request.todo_id))
    return question is not None and question.id == request.id


class OpenQuestions:
    """The questions of one session, for the process that owns it.

    Args:
        setup: what the session was opened with.
        activity: where it tells what it does.
        evidence_attached: called with a question's id when a preview or findings stand beside it in the ledger; with
            an empty one when all were looked at again.
        post: puts an event into the session's inbox: id, kind, data.
    """

    def __init__(
        self,
        setup: SessionSetup,
        activity: ActivityStream,
        evidence_attached: Callable[[str], Awaitable[None]],
        post: PostEvent,
    ) -> None:
        self._setup = setup
        self._ledger = setup.ledger
        self._activity = activity
        self._evidence_attached = evidence_attached
        self._post = post
        self._follower = QuestionFollower()
        self._asked = AskedRequests(self._follower)
        self._put_off: dict[str, tuple[str, Request]] = {}
        self._rebound: dict[str, int] = {}
        self._tidied = False
        self._version = ""
        self._read_to = 0
        self._decided: set[str] = set()
        self._previews: dict[str, asyncio.Task[None]] = {}
        self._board: Board | None = None
        self._outdated: dict[str, Request] = {}
        self._looking: asyncio.Task[None] | None = None
        self._checks: set[asyncio.Task[None]] = set()

    def __bool__(self) -> bool:
        return bool(self._asked)

    @property
    def previewing(self) -> bool:
        """A preview is still being made, or what one said is looked at again."""
        return bool(self._previews or self._outdated or self._looking)

    @property
    def poll_after(self) -> float:
        """Seconds after which to look again though nothing was said: until the next deadline, at most."""
        if not self._asked.have_deadlines:
            return _IDLE_WAIT
        end = self._asked.first_end
        left = seconds_between(self._setup.now(), end) if end else None
        return min(_IDLE_WAIT, max(_DEADLINE_WAIT, left or 0.0))

    async def expire(self) -> bool:
        """Let the ledger settle those whose deadline has passed; return whether there was one."""
        return self._asked.have_deadlines and bool(await self._ledger.expire(self._setup.now(), self._setup.info.id))

    def shown(self, board: Board) -> tuple[Question, ...]:
        """Return them as interfaces show them."""
        return self._asked.questions(board.todos, self._setup.approvers())

    def mark_delivered(self, request_ids: Iterable[str]) -> None:
        """Note that the decisions of these were delivered, so that they needn't be superseded."""
        self._decided |= set(request_ids)

    def outdate(self) -> None:
        """Note that a run ended: what it left behind may not be what open questions show; `ask` sees to that."""
        self._outdated |= self._asked.bound

    def reload(self, request_id: str) -> None:
        """Read anew what the ledger says of one: there is evidence beside it."""
        self._previews.pop(request_id, None)
        self._asked.outdate(request_id)

    def forget(self) -> None:
        """Begin anew: the session stands somewhere else."""
        self._follower = QuestionFollower()
        self._asked = AskedRequests(self._follower)
        self._put_off.clear()
        self._outdated.clear()

    def close(self) -> None:
        """Stop what is being previewed."""
        looking = () if self._looking is None else (self._looking,)
        for task in (*self._previews.values(), *self._checks, *looking):
            task.cancel()

    async def ask(self, board: Board) -> bool:
        """See that everything the state asks stands in the ledger, and nothing else does; return whether it changed."""
        changed = await self._ask(board)
        self._board = board
        if self._outdated:
            self._outdated = {key: q for key, q in self._outdated.items() if key in self._asked}
        if self._outdated and self._looking is None:
            self._looking = asyncio.create_task(self._look_again(), name="open questions")
        return changed

    async def _ask(self, board: Board) -> bool:
        rules = self._setup.rules
        other = self._follower.move(board, rules)
        if self._tidied and not other.askers:
            return False
        # What was bound anew comes once more, as another question, with the event that says so.
        wanted = {**self._put_off, **{request.id: (asker, request) for asker, request in other.opened}}
        for request_id in other.ended:
            wanted.pop(request_id, None)
        self._put_off = {key: found for key, found in wanted.items() if await self._bind_again(board, found[1])}
        unknown = {key: found for key, found in wanted.items() if key not in self._put_off}
        await load_validators([request for _, request in unknown.values()], rules.policy)
        await self._open([request for _, request in unknown.values()])
        changed = {asker: names for asker, request in unknown.values() if (names := request.about.get("changed"))}
        before = {asker: self._asked.asked_by(asker) for asker in changed}
        ended = self._asked.follow(other, unknown.values())
        for asker, names in changed.items():
            await self._end_changed([request_id for request_id in before[asker] if request_id in ended], names)
        if not self._tidied or not self._decided.issuperset(ended):
            await self._supersede(board, rules)
        self._tidied, self._version = True, board.control.policy_version
        self._decided.clear()
        return True

    async def _supersede(self, board: Board, rules: Rules) -> None:
        """Supersede what stands in the ledger and isn't asked; where it was asked under other rules, say that."""
        session, draft, now = self._setup.info.id, Draft(board, rules), board.control.policy_version
        keep, ruled = [*self._asked], list[str]()
        for key in await self._ledger.open_ids(session):
            view = None if key in self._asked else await self._ledger.request(key, self._setup.now())
            if view is None or view.resolution.outcome is not Outcome.PENDING:
                continue
            if _asked_ahead(draft, view.request):
                keep.append(key)
            elif view.request.subject.get("policy", self._version or now) != now:
                ruled.append(key)
        if ruled:
            others = [key for key in await self._ledger.open_ids(session) if key not in ruled]
            await self._ledger.supersede(session, others, Cause.POLICY, self._setup.now())
        await self._ledger.supersede(session, keep, Cause.ADVANCED, self._setup.now())

    async def _end_changed(self, ended: Sequence[str], names: Sequence[str]) -> None:
        """Write of questions that files were bound to which changed that this is why they were replaced."""
        if ended:
            keep = [i for i in await self._ledger.open_ids(self._setup.info.id) if i not in ended]
            detail = one_line(", ".join(names), 200)
            await self._ledger.supersede(self._setup.info.id, keep, Cause.FILES, self._setup.now(), detail=detail)

    async def _open(self, requests: Sequence[Request]) -> None:
        """See that questions stand in the ledger, and begin to find out what is shown beside them."""
        now = self._setup.now()
        fresh = [with_opening_times(self._described(_with_risk(request)), now) for request in requests]
        if not fresh:
            return
        fresh = [await self._with_lost_votes(request) for request in fresh]
        new = await self._ledger.open_requests(fresh)
        for request in fresh:
            self._attach_preview(request)
            self._attach_findings(request)
            self._attach_earlier_run(request)
            title = title_of(request)
            # what is asked from inside was made safe already; the stream does that with what it is given
            said = unsafe_text(title) if request.kind is Kind.INTERRUPT else title
            if request.kind in (Kind.PLAN, Kind.PROPOSAL):
                said = word(title)
            if request.id in new:  # at every other opening it was told already
                self._activity.write(request.todo_id, "asked", said)

    async def _with_lost_votes(self, request: Request) -> Request:
        """Return a question that says whose votes on the one before it, which it stands for now, don't count for it."""
        if request.kind not in (Kind.TODO, Kind.FAILURE) or not request.subject.get("asked"):
            return request
        session, now = self._setup.info.id, self._setup.now()
        before = await self._ledger.requests(now, session=session, todo_id=request.todo_id)
        said = [d for view in before if view.request.id != request.id for d in view.decisions]
        if not said:
            return request
        names = ", ".join(dict.fromkeys(plain_name(decision.by) for decision in said))
        note = Message("It is asked anew: the votes given before don't count for it ({}).", names)
        self._activity.write(request.todo_id, "note", note)
        return replace(request, about={**request.about, "notes": [*request.about.get("notes", ()), note]})

    def _described(self, request: Request) -> Request:
        """Return a request with what its team knows of its arguments; it can be asked without."""
        try:
            if request.kind in (Kind.PLAN, Kind.PROPOSAL):
                return _with_settings(request, self._setup.team)
            return _with_team(request, self._setup.team(request.source))
        except Exception as error:  # noqa: BLE001 - a team that is gone, or whose schema is none: its run will say so
            log.info("%s is asked without its team's schema: %s", request.id, error)
            return request

    async def _bind_again(self, board: Board, request: Request) -> bool:
        """See that a question nobody has seen yet is about the files of now; return whether it is made anew for that.

        What ran before it may have written them. One that stands in the ledger stays as it was shown.
        """
        if request.kind not in (Kind.TODO, Kind.FAILURE):
            return False
        todo = SupervisorTodo.from_state(board.todos[request.todo_id])
        again = goes_on(todo)
        if request.kind is Kind.FAILURE and not again:
            return False
        if self._rebound.get(todo.id) == todo.asked or await self._ledger.request(request.id, self._setup.now()):
            return False
        fresh = await bind_again(self._setup.planner.agents, todo)
        if fresh is None:
            return False
        self._rebound[todo.id] = todo.asked + 1  # once: a workspace may change all the time
        names = fresh.changed if again else todo.metadata.get("changed", ())
        await self._ask_anew(request, fresh.programs, names)
        return True

    async def _ask_anew(self, request: Request, programs: Mapping[str, str], changed: Sequence[str]) -> None:
        data: EventData = {"todo_id": request.todo_id, "programs": programs, "changed": list(changed[:MOST_CHANGED])}
        await self._post("bound:" + request.id, EventKind.BOUND, data)

    async def _look_again(self) -> None:
        """Ask anew what is bound to other files than it shows, or whose preview shows something else now.

        One after the other, and each once however many runs ended meanwhile.
        """
        while self._outdated:
            request = self._outdated.pop(next(iter(self._outdated)))
            try:
                await self._look_at(request)
            except Exception:
                log.exception("whether %s is as it was isn't known", request.id)
        self._looking = None
        await self._evidence_attached("")

    async def _look_at(self, request: Request) -> None:
        if request.id in self._previews:
            await asyncio.wait({self._previews[request.id]})
        if self._board is None or request.id not in self._asked:
            return
        todo = SupervisorTodo.from_state(self._board.todos[request.todo_id])
        fresh = await bind_again(self._setup.planner.agents, todo)
        if fresh is None and not await self._shows_otherwise(request):
            return
        if request.id in self._asked:
            programs, changed = (todo.programs, ()) if fresh is None else (fresh.programs, fresh.changed)
            await self._ask_anew(request, programs, changed)

    async def _shows_otherwise(self, request: Request) -> bool:
        """Return whether the preview of a question isn't what stands beside it."""
        if not has_preview(request) or (found := await self._preview(request)) is None:
            return False
        view = await self._ledger.request(request.id, self._setup.now())
        return view is not None and canonical(view.evidence) != canonical(mask_json(dict(found), self._setup.secrets))

    def _attach_preview(self, request: Request) -> None:
        """Run a team's declared, read-only preview beside a question; its output is evidence, not subject.

        What failed may be run again: that, too, is decided with a look at what it would do now.
        """
        if not has_preview(request):
            return

        async def show() -> None:
            found = await self._preview(request)
            if found is None:
                return
            view = await self._ledger.request(request.id, self._setup.now())
            before = view.evidence if view is not None else {}
            if "files" in before and (changed := _differing(before, mask_json(dict(found), self._setup.secrets))):
                # Somebody may have seen that, in another process: nothing else takes its place beside this question.
                await self._ask_anew(request, programs_of(request.subject["arguments"]), changed)
            else:
                await self._attach(request, found)
            await self._evidence_attached(request.id)

        self._previews[request.id] = asyncio.create_task(show(), name=f"preview {request.id}")

    async def _preview(self, request: Request) -> Mapping[str, object] | None:
        """Return what a question's preview shows now, or why it shows nothing; None where its team has none."""
        found: OutputPreview | QueryPreview | FilePreview | None
        try:
            if request.kind in (Kind.PLAN, Kind.PROPOSAL):
                found = await queries_of(self._setup, request, self._results())
            else:
                found = await preview_of(self._setup, request, request.subject["arguments"])
        except HitlError as error:
            return {"error": error.message}
        except Exception as error:
            log.exception("the preview of %s failed", request.id)
            return {"error": Message("The preview stopped with {}; the log says more.", type(error).__name__)}
        if isinstance(found, QueryPreview):
            return {"queries": list(found.queries), **({"more": found.more} if found.more else {})}
        return None if found is None or isinstance(found, FilePreview) else found

    def _results(self) -> dict[str, str]:
        """Return the digests of the results that are there, by TODO."""
        todos = self._board.todos if self._board is not None else {}
        return {key: str(result["digest"]) for key, todo in todos.items() if (result := todo.get("result"))}

    def _attach_findings(self, request: Request) -> None:
        """Say beside the question whether a graph may run what the rules find in it; nobody waits for that."""
        if request.kind is not Kind.TODO or request.about.get("ran_before") or "from_step" in request.subject:
            return
        setup = self._setup
        try:
            team = setup.team(request.source)
        except (HitlError, KeyError):  # it is gone, which its run will say
            return
        graph = team.graph
        if graph is None:
            return

        async def show() -> None:
            found = await findings_in(graph.declaration)
            if found is None:
                return
            for finding in found["findings"][:_SHOWN_FINDINGS]:
                said = f"{finding['file']}:{finding['line']} {finding['rule']} {finding['message']}"
                self._activity.write(request.todo_id, "note", said)
            if await self._attach(request, found):
                await self._evidence_attached(request.id)

        self._start_check(show())

    def _attach_earlier_run(self, request: Request) -> None:
        """Say beside the question whether something happened what is known of the run that may have done it.

        Whoever has the stream of that run knows more of it than others, and nobody puts less in the place of that.
        """
        if request.kind is not Kind.EFFECT:
            return
        setup, key = self._setup, request.subject["effect"]["key"]

        async def show() -> None:
            effect = next((e for e in await self._ledger.effects(setup.info.id) if e.key == key), None)
            if effect is None or not effect.began:
                return
            found = earlier_run(self._activity.lines, effect, setup.folder.stream_place)
            view = await self._ledger.request(request.id, setup.now())
            if view is not None and view.evidence and not found["known"]:
                return
            if await self._attach(request, {"before": found}):
                await self._evidence_attached(request.id)

        self._start_check(show())

    async def _attach(self, request: Request, evidence: Mapping[str, object]) -> bool:
        """Put evidence beside a question; return False where it was decided or replaced meanwhile."""
        try:
            masked = mask_json(dict(evidence), self._setup.secrets)
            await self._ledger.attach_evidence(request.id, masked, self._setup.now())
        except HitlError as error:
            log.info("nothing stands beside %s: %s", request.id, error.message)
            return False
        return True

    def _start_check(self, check: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(check, name="check of a question")
        self._checks.add(task)
        task.add_done_callback(self._checks.discard)

    async def look_up(self, board: Board) -> None:
        """Read what the ledger says of new ones, and of those watched that its stream has named since the last time."""
        asked, session = self._asked, self._setup.info.id
        if not asked.unread and not asked.watched:
            return
        wanted, read_to = dict(asked.unread), self._read_to
        self._read_to = (await self._ledger.head(session)).n  # what comes while it is read is read once more
        if asked.watched and read_to < self._read_to:
            async for entry in read_stream(self._ledger, session, read_to):
                wanted.update((key, None) for key in entry.request_ids if key in asked.watched)
        for request_id in wanted:
            view = await self._ledger.request(request_id, self._setup.now())
            if view is not None:
                asked.read(view)
                if view.resolution.decided:
                    await self._deliver_again(view, board)

    async def _deliver_again(self, view: RequestView, board: Board) -> None:
        """Deliver a decision to a question that waits for it though its event has been gone through already."""
        session, control, key = self._setup.info.id, board.control, view.request.id
        inbox = await self._ledger.after(session, 0, control.branch)
        if any(p.event_id == f"decided:{key}" and p.seq <= control.cursor for p in inbox):
            event, again = decided_event(view), f"again:{key}:{control.cursor}"
            await self._ledger.post(session, control.branch, again, event, self._setup.now())
