"""`inbox`, `decide` and `expire`: what waits for people, also of a runtime elsewhere, and answers (M6, M8)."""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import cast

from hitl_tui.cli.admin_commands import DONE, looking
from hitl_tui.cli.graph_settings import text_or_file
from hitl_tui.cli.job import Job
from hitl_tui.cli.runtime_reach import reach
from hitl_tui.cli.session_jobs import acting_of, given_text, handler_of
from hitl_tui.cli.settings import operator_name, operator_of, workspace_folder
from hitl_tui.commands.request_answer import EDIT, answer_request, json_given
from hitl_tui.commands.results import CommandResult
from hitl_tui.core.errors import BadInput, HitlError, Refused, StorageError, UnknownName
from hitl_tui.core.events import utc_now
from hitl_tui.core.interrupts.answer_parser import option_words
from hitl_tui.core.interrupts.shape import IGNORE, REJECT, STOP, Action, Shape, needs_of
from hitl_tui.core.json_text import names_digest
from hitl_tui.core.json_types import Json, JsonObject
from hitl_tui.core.messages import Message, counted_message
from hitl_tui.core.names import clip, step_name
from hitl_tui.core.policy import Risk
from hitl_tui.core.requests import Kind, Outcome, Request, Verdict, closed_words, name_of
from hitl_tui.core.safe_text import one_line
from hitl_tui.core.todos import Status
from hitl_tui.language import _, translate
from hitl_tui.ledger.records import RequestView
from hitl_tui.policy.approvers import ApproverFile, Approvers
from hitl_tui.supervisor.open_questions import files_of
from hitl_tui.supervisor.open_session import open_session
from hitl_tui.supervisor.remote_reviews import RemoteReviews, WaitingReview
from hitl_tui.supervisor.session_follower import SessionFollower
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.supervisor.session_summary import SessionSummary
from hitl_tui.supervisor.session_view import SessionView
from hitl_tui.supervisor.snapshot import Question, Snapshot, counted_now, listed
from hitl_tui.task_checkpoints.checkpoint import AWAITED, Checkpoint, unawaited
from hitl_tui.task_checkpoints.task_inbox import WaitingStep
from hitl_tui.teams.contract import FilePreview
from hitl_tui.wording.form_rows import field_rows
from hitl_tui.wording.inbox_rows import asked_words, call_rows, option_lines, risk_shown, votes_words, waits_words
from hitl_tui.wording.review_rows import review_heading, waiting_rows
from hitl_tui.wording.status_words import RISK_WORDS
from hitl_tui.wording.text_lines import asked_lines, is_terminal, layout, shown

UNREADABLE, WAITS = 1, 3
_REFUSING = ("reject", "skip", "ignore", "stop")
_MOST = 1_000_000
_LINES, _CHOICES = 100, 20


@dataclass(frozen=True, slots=True)
class _Waiting:
    """One thing that waits: a session's question, a step of somebody's task, or a request of a runtime elsewhere.

    Args:
        question: as it was asked.
        step: of a task.
        review: of a runtime elsewhere.
    """

    question: Question
    step: WaitingStep | None = None
    review: WaitingReview | None = None

    @property
    def view(self) -> RequestView:
        return self.question.view

    @property
    def request(self) -> Request:
        return self.view.request

    def to_dict(self) -> dict[str, Json]:
        request = self.request
        where: dict[str, Json] = {"source": "session", "session_id": request.session}
        if self.step is not None:
            where = {"source": "task", "task_id": request.session, "masc_dir": str(self.step.masc)}
            where["step"] = self.step.step.step
        if self.review is not None:
            asked = self.review.request
            where = {"source": "runtime", "runtime": self.review.place, "job_id": asked.job, "event": dict(asked.event)}
        return {
            "id": request.id,
            **where,
            "name": name_of(request),
            "kind": request.kind.value,
            "asks": asked_words(self.view),
            "risk": request.risk_class.value,
            "requester": request.requester,
            "subject": cast(JsonObject, request.subject),
            "digest": request.digest,
            "opened_at": request.opened_at,
            "deadline": request.expires_at,
            "votes": len(self.view.resolution.decisions),
            "quorum": request.terms.quorum,
            "level": request.terms.level,
            **({"awaited": unawaited(self.view, utc_now()) is None} if AWAITED in self.view.evidence else {}),
            "options": list(self.question.answers) if self.review is None else [Verdict.APPROVE, Verdict.REJECT],
            **({"notes": [*shape.notes]} if (shape := self.question.shape) is not None and shape.notes else {}),
            **({"choices": choices} if (choices := self.question.choices(self.chosen_by(self.seen))) else {}),
        }

    @property
    def seen(self) -> str:
        """What a command ends with that lets what is of high risk happen from where nobody sees the question."""
        return f" --digest {self.request.digest[:16]}" if self.request.risk_class is Risk.HIGH else ""

    def told(self, files: Mapping[str, FilePreview | None]) -> list[str]:
        """Return what has to be read before it is decided, a line each.

        Args:
            files: by question the file that its step would make.
        """
        if self.step is not None:
            return layout(call_rows(self.step.step), "  ")
        if self.review is not None:
            return layout(waiting_rows(self.review), "  ")
        return asked_lines(self.question, files)

    def chosen_by(self, tail: str) -> list[str]:
        """Return the command that gives each option of a question, in the order in which they are shown.

        Args:
            tail: what every command ends with.
        """
        shape = self.question.shape
        words = option_words(shape) if shape is not None else ()
        return [f"hitl-tui decide {self.request.id} respond --args {shlex.quote(word)}{tail}" for word in words]


@asynccontextmanager
async def _elsewhere(job: Job, registry: SessionRegistry) -> AsyncIterator[tuple[RemoteReviews | None, Sequence[str]]]:
    """Read what the runtimes ask that the settings name; yield them, None for none, and why some can't be read now."""
    try:
        places = registry.reviewed_runtimes(await registry.trust.of(workspace_folder(job.arguments.workspace)))
        runtime = reach(job, places) if places else None
    except HitlError as error:
        yield None, [error.message]
        return
    if runtime is None:
        yield None, []
        return
    try:
        await runtime.look()
        yield runtime, runtime.problems
    finally:
        await runtime.close()


async def _taken_over(job: Job, registry: SessionRegistry) -> Sequence[str]:
    """Let the threads that wait on declared LangGraph servers ask here; return why some can't, a sentence each."""
    workspace = workspace_folder(job.arguments.workspace)
    try:
        declared = (await registry.trust.of(workspace)).config.graphs.values()
    except HitlError:  # it is said where the runtimes elsewhere are read
        return []
    if registry.data.read_only or not any(graph.inbox for graph in declared):
        return []
    from hitl_tui.commands.waiting_threads import take_over_declared

    operator = operator_of(job.arguments.by, job.environ, job.data)
    return (await take_over_declared(registry, workspace, operator)).problems


def _with_reviews(found: list[_Waiting], runtime: RemoteReviews | None) -> list[_Waiting]:
    """Add what a runtime elsewhere asks, but for requests that are known here: it may have the same record."""
    known = {one.request.id for one in found}
    there = runtime.waiting if runtime is not None else ()
    reviews = [_Waiting(listed(one.view), review=one) for one in there if one.request.request_id not in known]
    return sorted([*found, *reviews], key=lambda one: one.request.urgency)


async def _waiting(job: Job, registry: SessionRegistry, most: int) -> list[_Waiting]:
    """Return what waits here, of sessions `most`: what expires first comes first; what is overdue is settled."""
    await registry.settle_overdue()
    views = await registry.ledger.urgent(utc_now(), most)
    found = [_Waiting(question) for question in _questions(views, registry.approvers.current)]
    here = workspace_folder(job.arguments.workspace)
    found += [_Waiting(listed(one.view), one) for one in await registry.tasks.waiting(here)]
    return sorted(found, key=lambda one: one.request.urgency)


def _questions(views: Sequence[RequestView], approvers: Approvers) -> list[Question]:
    """Return requests of sessions as questions, with the votes that count, and how many more their steps ask."""
    inside = [view.request for view in views if view.request.kind is Kind.INTERRUPT]
    asking = Counter((request.session, request.todo_id) for request in inside)
    beside = {request.id: asking[request.session, request.todo_id] - 1 for request in inside}
    return [listed(counted_now(view, approvers), beside.get(view.request.id, 0)) for view in views]


async def inbox(job: Job) -> int:
    """List what waits for people; return the exit code."""
    given, words = job.arguments, job.arguments.search.casefold().split()
    most = given.limit or (_MOST if given.json else _LINES)
    async with looking(job) as registry, _elsewhere(job, registry) as (runtime, problems):
        away = await _taken_over(job, registry)
        found = _with_reviews(await _waiting(job, registry, _MOST if words else most), runtime)
        warnings = [*await registry.inbox_warnings(), *problems, *away]
        if words:
            found = [one for one in found if all(word in str(one.to_dict()).casefold() for word in words)]
        total = len(found)
        if not words and len(found) >= most:
            counts = await registry.ledger.waiting_counts(utc_now())
            total += sum(counts.values()) - sum(one.step is None and one.review is None for one in found)
        found = found[:most]
        cut_off = await _cut_off(registry, words)
        message = counted_message("{} question waits.", "{} questions wait.", total)
        if total > len(found):
            message = Message("{} questions wait; the {} most urgent are shown (--limit).", total, len(found))
        if given.json:
            requests: list[Json] = [one.to_dict() for one in found]
            stopped: list[Json] = [
                {"session_id": one.id, "title": one.title, "updated": one.updated, "command": _opens(job, one)}
                for one in cut_off
            ]
            _document(job, registry, message, requests=requests, warnings=[*warnings], interrupted=stopped)
        else:
            _print_problems(job, registry)
            job.say(*warnings)
            people = ApproverFile(job.data).current
            files = await _files(registry, found)
            lines = (line for one in found for line in _lines(job, one, people, files))
            half_done = Message("{} was interrupted and may have left something half done; to open it: {}")
            stands_still = [half_done.filled(one.id, _opens(job, one)) for one in cut_off]
            job.out.lines([*lines, *(shown(translate(said)) for said in stands_still), shown(translate(message))])
        await _note_shown(job, registry, found)
        return WAITS if found else _code_of(registry)


async def _cut_off(registry: SessionRegistry, words: Sequence[str]) -> list[SessionSummary]:
    """Return the sessions that ended in the middle of something and ask nothing before they are opened.

    Args:
        registry: all sessions; looked at are those that were made last, as `sessions` lists them.
        words: only those that have all of them.
    """
    listed = await registry.admin.sessions(newest=_LINES)
    found = [one for one in listed if one.status == "interrupted"]
    return [one for one in found if all(word in str(one.to_dict()).casefold() for word in words)]


def _opens(job: Job, session: SessionSummary) -> str:
    return f"hitl-tui --session {session.id}{job.place}"


def _document(job: Job, registry: SessionRegistry, message: Message, **content: Json) -> None:
    problems: list[Json] = [*registry.tasks.problems]
    job.out.document({"status": "ok", "message": message, **content, "problems": problems})


def _code_of(registry: SessionRegistry) -> int:
    """Return the exit code where nothing waits that can be read."""
    return UNREADABLE if registry.tasks.problems else DONE


def _print_problems(job: Job, registry: SessionRegistry) -> None:
    job.say(*registry.tasks.problems)


async def _files(registry: SessionRegistry, found: Sequence[_Waiting]) -> dict[str, FilePreview | None]:
    """Return by question the file that its step would make; of sessions that can't be read now nothing."""
    steps: dict[str, list[Question]] = {}
    for one in found:
        if one.step is None and one.review is None and one.request.kind is Kind.TODO:
            steps.setdefault(one.request.session, []).append(one.question)
    files: dict[str, FilePreview | None] = {}
    for session, questions in steps.items():
        with suppress(HitlError):
            setup = await registry.setup(session, teams=False)
            files |= await files_of(setup, questions, setup.info.query)
    return files


def _lines(job: Job, one: _Waiting, people: Approvers, files: Mapping[str, FilePreview | None]) -> list[str]:
    request = one.request
    nobody = people.shortfall(request.terms, request.requester) if one.review is None else ""
    where = f"{request.session} · {one.step.masc.parent}" if one.step else request.session
    stands = (waits_words(one.view), _(RISK_WORDS[risk_shown(one.view).value]), votes_words(one.view))
    tail = ("" if is_terminal(sys.stdout) else one.seen) + job.place
    rows = [
        " · ".join(filter(None, (one_line(where, 60), *stands))),
        f"  {asked_words(one.view)}",
        *one.told(files),
        *([f"  {translate(nobody)}"] if nobody else ()),
        *(_ways(one, tail, job.place) or _answers(one, tail, job.place)),
    ]
    return [shown(row) for row in rows]


def _ways(one: _Waiting, tail: str, place: str) -> list[str]:
    """Return each option of a question with the command that gives it; none where it gives no choice."""
    ways = list(zip(option_lines(one.view), one.chosen_by(tail), strict=True))
    lines = [line for option, command in ways[:_CHOICES] for line in (f"  {option}", f"     {command}")]
    lines += [f"  {option}" for option, _command in ways[_CHOICES:]]
    return [*lines, *(_stop(one.question, place) if lines else ())]


def _answers(one: _Waiting, tail: str, place: str) -> list[str]:
    """Return the commands that answer a request, with the fields that they take, a line each.

    Of a question that is usually approved, those are the one that lets things go on and the one that refuses.

    Args:
        one: what waits.
        tail: what the others end with.
        place: what those that refuse end with: they need no digest.
    """
    question = one.question
    command, options, shape = f"  hitl-tui decide {question.id}", question.view.request.options, question.shape
    if shape is None:
        if Verdict.APPROVE not in options:
            return [f"{command} {word}{tail}" for word in options]
        why = " --reason WHY" if one.step is not None or one.review is not None else ""  # an agent is told why
        refusal = [f"{command} {Verdict.REJECT}{why}{place}"] if Verdict.REJECT in options else []
        return [f"{command} {Verdict.APPROVE}{tail}", *refusal]
    lines: list[str] = []
    for action in shape.actions:
        if not action.why_not:
            lines += [f"{command} {action.name}{_needs(shape, action)}{tail}", *layout(field_rows(action), "  ")]
    return [*lines, *_stop(question, place)]


def _stop(question: Question, place: str) -> list[str]:
    """Return the command that stops the step of what a team asks; none where the question has a refusal of its own."""
    refuses = question.shape is not None and any(
        one.name in (REJECT, IGNORE) and not one.why_not for one in question.shape.actions
    )
    return [f"  hitl-tui decide {question.id} {STOP}{place}"] if question.stops_step(STOP) and not refuses else []


def _needs(shape: Shape, action: Action) -> str:
    """Return what an answer takes besides its word; what may be left out isn't named."""
    needs = needs_of(shape, action)
    if not needs or needs.startswith("["):
        return ""
    plain = needs in ("TEXT", "OPTION", "VALUE")
    return f" --args {'ANSWER' if plain else shlex.quote(needs)}"


async def _note_shown(job: Job, registry: SessionRegistry, found: list[_Waiting]) -> None:
    by = operator_name(job.arguments.by, job.environ, job.data)
    if not registry.data.read_only:
        own = [one.request.id for one in found if one.step is None and one.review is None]
        await registry.ledger.mark_shown(own, by, "cli", utc_now())
    for one in found:
        if one.step is not None:
            await registry.tasks.tasks(one.step.masc).was_shown(one.step.step, by, "cli")


async def decide(job: Job) -> int:
    """Answer one request, whatever it is of; return the exit code."""
    given = job.arguments
    text = _given_arguments(job)
    async with looking(job) as registry:
        await registry.settle_overdue()
        view = await registry.ledger.request(given.request, utc_now())
        waits = view is not None and view.resolution.outcome is Outcome.PENDING
        found = None
        if view is not None and waits:
            beside = await registry.ledger.requests(utc_now(), session=view.request.session)
            found = next(
                (_Waiting(one) for one in _questions(beside, registry.approvers.current) if one.id == given.request),
                None,
            )
        if view is None:
            steps = await registry.tasks.waiting(workspace_folder(given.workspace))
            found = next((_Waiting(listed(one.view), one) for one in steps if one.request_id == given.request), None)
        if found is None:
            view = view or await registry.tasks.request(given.request, workspace_folder(given.workspace))
            if view is None:
                return await _decide_elsewhere(job, registry)
            raise Refused(closed_words(view.request, view.resolution, utc_now()), reason="late")
        if not given.json:
            lines = found.told(await _files(registry, [found]))
            job.out.lines([shown(row) for row in (asked_words(found.view), *lines, *option_lines(found.view))])
        _check_seen(job, found)
        if given.digest:  # who has it was shown what it names
            await _note_shown(job, registry, [found])
        if found.step is not None:
            return await _decide_step(job, registry, found.step, text)
        return await _decide_question(job, registry, found, text)


async def _decide_elsewhere(job: Job, registry: SessionRegistry) -> int:
    """Answer a request of a runtime elsewhere.

    Raises:
        UnknownName: none has one of this id.
        Refused: it is decided already.
    """
    given = job.arguments
    async with _elsewhere(job, registry) as (runtime, problems):
        found = next((o for o in _with_reviews([], runtime) if o.request.id == given.request), None)
        if runtime is None or found is None or found.review is None:
            if runtime is not None and (gone := await runtime.ending(given.request)) is not None:
                raise Refused(gone, reason="late")
            said = Message("No request {}.", one_line(clip(given.request), 80))
            listed = Message("hitl-tui inbox lists what waits, with its ids.")
            raise StorageError(Message("{} {}", said, problems[0])) if problems else UnknownName(said, help=listed)
        if not given.json:
            job.out.lines([review_heading(found.review.request), *map(shown, layout(waiting_rows(found.review), "  "))])
        _check_seen(job, found)
        if given.answer not in ("approve", "reject"):
            raise BadInput(Message("What a runtime elsewhere asks is approved or rejected."))
        if given.answer == "reject" and not given.reason.strip():
            raise BadInput(Message("--reject needs --reason: the agent is told why."))
        approved = given.answer == "approve"
        message = await runtime.answer(found.review.request, approved=approved, text=given.reason)
    if given.json:
        job.out.document({"status": "decided", "message": message, "id": given.request})
    else:
        job.out.lines([shown(translate(message))])
    return DONE


def _given_arguments(job: Job) -> str:
    """Return what goes with an edit or a response: as it is given, or a file's content."""
    given = job.arguments
    text = text_or_file(given.args or "")
    if given.answer in (EDIT, "respond") and not text.strip():
        raise BadInput(Message("{} needs --args.", given.answer))
    return given_text(text, job.stdin)


def _check_seen(job: Job, found: _Waiting) -> None:
    """See that who decides has seen what they decide about.

    Raises:
        Refused: what they saw is something else, or nothing says what they saw.
    """
    request, given = found.request, job.arguments
    if given.digest and not names_digest(given.digest, request.digest):
        raise Refused(Message("The question changed since it was shown; read it again, then decide."), reason="stale")
    if given.digest or request.risk_class is not Risk.HIGH or given.answer in _REFUSING:
        return
    if not is_terminal(sys.stdin):
        raise Refused(
            Message("{} is high-risk; from here, add the digest of the question you were shown.", name_of(request)),
            reason="digest",
            help=f"hitl-tui {shlex.join(given.typed)} --digest {request.digest[:16]}",
        )


async def _decide_step(job: Job, registry: SessionRegistry, waiting: WaitingStep, text: str) -> int:
    given = job.arguments
    if given.answer not in ("approve", "reject", EDIT):
        raise BadInput(Message("A step of a task is approved or rejected; --args go to the agent with the approval."))
    value = json_given(text) if text.strip() else None
    if given.answer == "reject" and not given.reason.strip():
        raise BadInput(Message("--reject needs --reason: the agent is told why."))
    seen = waiting.view.request.digest
    if given.answer == EDIT:
        if not isinstance(value, dict):
            raise BadInput(Message("--args must be a JSON object: all arguments of the call."))
        step = await registry.tasks.edit(waiting, value, acting_of(job)(), seen)
        return _say_edited(job, step)
    verdict = Verdict(given.answer)
    step = await registry.tasks.decide(
        waiting, verdict, acting_of(job)(), "cli", reason=given.reason, value=value, seen=seen
    )
    message = step.decision_words(verdict)
    if given.json:
        job.out.document({"status": "decided", "message": message, "checkpoint": step.to_dict()})
    else:
        job.out.lines([shown(translate(message))])
    return WAITS if step.needed else DONE


def _say_edited(job: Job, step: Checkpoint) -> int:
    assert step.view is not None, "what was edited asks"
    message = Message("Edited {}; it is asked anew: {}.", step.name, step.view.request.id)
    if job.arguments.json:
        job.out.document({"status": "edited", "message": message, "checkpoint": step.to_dict()})
    else:
        job.out.lines([shown(translate(message))])
    return WAITS


async def _decide_question(job: Job, registry: SessionRegistry, found: _Waiting, text: str) -> int:
    given, request = job.arguments, found.request
    setup = await registry.setup(request.session, teams=False)
    job.session_id = setup.info.id
    job.log.hide(setup.secrets)

    async def answered(session: SessionView, seen: Snapshot) -> CommandResult | None:
        question = next((q for q in seen.questions if q.id == request.id), None)
        if question is None:
            return None
        handler = handler_of(registry, session, setup, acting_of(job), (request.id,), opens_next=True)
        found = await answer_request(handler, question, given.answer, text, given.reason)
        if found.failed:
            raise HitlError(found.message)
        return found

    result: CommandResult | None = None
    refuses = given.answer in _REFUSING and (
        request.kind is not Kind.INTERRUPT or found.question.stops_step(given.answer)
    )
    if refuses:
        # It counts whatever rules hold by now, so it is on record before an opening asks anew under these.
        async with SessionFollower.open(setup) as followed:
            result = await answered(followed, followed.snapshot)
    async with open_session(registry.store, setup) as session:
        if session.alone:
            await session.take_over()
        if result is None:
            result = await answered(session, await session.settled() if session.owned else session.snapshot)
        if result is None:
            raise await _gone(registry, request)
        if session.owned:
            await session.settled()
        failed = "" if refuses or not session.owned else _failed(session.snapshot, request)
    if given.json:
        more: JsonObject = {"failed": failed} if failed else {}
        job.out.document({"status": "decided", "message": result.message, "id": request.id, **result.data, **more})
    else:
        job.out.lines([shown(translate(result.message))])
        job.say(*filter(None, [failed]))
    return WAITS if result.data.get("needed") else DONE


def _failed(snapshot: Snapshot, request: Request) -> str:
    """Return what the step of a request failed with once it was answered; empty where it didn't."""
    todo = next((todo for todo in snapshot.todos if todo.id == request.todo_id), None)
    if todo is None or todo.status is not Status.FAILED:
        return ""
    return Message("{} failed: {}", step_name(todo.id), todo.error)


async def _gone(registry: SessionRegistry, request: Request) -> Refused:
    """Return what is said to somebody whose question went while they answered."""
    now = utc_now()
    view = await registry.ledger.request(request.id, now)
    if view is None or view.resolution.outcome is Outcome.PENDING:
        return Refused(Message("This question was replaced ({}); look at the new one.", request.id), reason="gone")
    return Refused(closed_words(view.request, view.resolution, now), reason="late")


def expire(job: Job) -> int:
    """Settle what is overdue, of sessions that nobody has open and of tasks; return the exit code."""
    return asyncio.run(_expire(job))


async def _expire(job: Job) -> int:
    async with looking(job) as registry:
        gone: list[Json] = [*await registry.settle_overdue()]
        gone += [one.request_id for one in await registry.tasks.expire()]
        message = counted_message("{} question expired.", "{} questions expired.", len(gone))
        if job.arguments.json:
            _document(job, registry, message, expired=gone)
        else:
            _print_problems(job, registry)
            job.out.lines([shown(translate(message))])
        return _code_of(registry)
