"""`hitl-tui review`: plans and steps of a runtime elsewhere, shown to a reviewer and answered by feedback (P4)."""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import Any

from prompt_toolkit.history import InMemoryHistory

from hitl_tui.channels.plan_feedback.feedback import Feedback
from hitl_tui.channels.plan_feedback.review_feed import EventFile, EventSource, PublishedRequests, Reviews
from hitl_tui.channels.plan_feedback.review_place import (
    NOT_TAKEN,
    TOKENS,
    AnswerPlace,
    check_answer,
    place_at,
    refusal,
    send_answer,
)
from hitl_tui.channels.plan_feedback.runtime_client import SCHEMES
from hitl_tui.channels.plan_feedback.store_address import SCHEME, store_at
from hitl_tui.cli.job import Job
from hitl_tui.cli.settings import claimed
from hitl_tui.config.paths import given_path
from hitl_tui.core.errors import BadInput, Refused, StorageError, UnknownName
from hitl_tui.core.messages import Message, counted_message
from hitl_tui.core.review_request import PLAN, ReviewRequest
from hitl_tui.core.safe_text import one_line
from hitl_tui.language import _, mark, translate
from hitl_tui.policy.accounts import account_name
from hitl_tui.repl.prompt import PromptLines
from hitl_tui.wording.review_rows import review_heading, review_rows
from hitl_tui.wording.text_lines import Whole, is_terminal, layout, shown, terminal_width, wrapped

SENT, WAITS = 0, 3
_PATIENCE = 10.0
"""Seconds to wait for what becomes of an answer, unless told."""
_AGAIN = 5.0
"""Seconds after which events are followed again that couldn't be read."""
_KEYS = mark("{a} approve · {f} and what to change · {l} later · {q} leave")
_STEP_KEYS = mark("{a} approve · {f} and why not · {l} later · {q} leave")


async def review(job: Job) -> int:
    """Show what waits for a reviewer and take the answer; return the exit code.

    Raises:
        BadInput: what was given can't be used.
        Refused: somebody else was first, or the runtime didn't take the answer.
        StorageError: events or feedback can't be reached.
    """
    given = job.arguments
    if given.remark is not None and not given.remark.strip():
        raise BadInput(Message("--feedback takes what should change, not an empty text."))
    answers = given.approve or given.remark is not None
    if answers and not given.request:
        raise BadInput(
            Message("Name the request that is answered."), help=Message("Without an answer, what waits is listed.")
        )
    async with _Reviewer.open(job) as reviewer:
        if answers:
            return await reviewer.answer_one()
        if given.json or not is_terminal(sys.stdin, sys.stdout):
            return await reviewer.list_waiting()
        return await reviewer.converse()


class _Reviewer:
    """One run of the command; use `open`.

    Args:
        job: the run.
        source: where requests come from.
        store: where answers go; None for where each request says.
        verified: answers carry an approver's token.
    """

    def __init__(self, job: Job, source: EventSource, store: AnswerPlace | None, *, verified: bool) -> None:
        self._job, self._source, self._verified = job, source, verified
        self._store = store
        self._reviews = Reviews()
        self._stores: dict[str, AnswerPlace] = {}
        self._by = claimed(job.arguments.by, job.environ) or account_name()

    @classmethod
    @asynccontextmanager
    async def open(cls, job: Job) -> AsyncIterator[_Reviewer]:
        """Open what the command line names."""
        given = job.arguments
        place = given.source
        store: AnswerPlace | None = store_at(given.to) if given.to else None
        opened = [store] if store is not None else []
        source: EventSource
        verified = False
        if not place and (sys.stdin is None or is_terminal(sys.stdin)):
            raise BadInput(
                Message(
                    "--from names where requests come from: http://HOST:PORT, a file of events, a folder of feedback, "
                    "or s3://BUCKET."
                )
            )
        if not place or place == "-":
            if sys.stdin is None:
                raise BadInput(Message("There is no standard input to read events from."))
            source = EventFile(None, sys.stdin.fileno())
        elif place.startswith((*SCHEMES, SCHEME)) or ("://" not in place and given_path(place).is_dir()):
            job.log.hide({name: job.environ.get(name, "") for name in TOKENS})
            runtime = place_at(place, job.environ)
            verified = store is None and runtime.verified
            source, store = PublishedRequests(runtime.store), store or runtime.store
            opened.append(runtime.store)
        elif "://" in place:
            raise BadInput(Message("Requests can't be read from {}.", repr(one_line(place, 100))))
        else:
            source = EventFile(given_path(place).absolute())
        reviewer = cls(job, source, store, verified=verified)
        try:
            yield reviewer
        finally:
            for each in (*opened, *reviewer._stores.values()):
                await each.close()

    # Without a person at the terminal -----------------------------------------------------------------------------

    async def list_waiting(self) -> int:
        """Print what waits."""
        wanted = await self._wanted()
        message = counted_message("{} request waits for a review.", "{} requests wait for a review.", len(wanted))
        if self._job.arguments.json:
            document = {"status": "ok", "message": message, "requests": [_document(one) for one in wanted]}
            self._job.out.document(document)
        else:
            for request in wanted:
                self._show(request)
            self._job.out.lines([shown(translate(message))])
        return WAITS if wanted else SENT

    async def answer_one(self) -> int:
        """Give one answer and print what became of it."""
        given = self._job.arguments
        [request] = await self._wanted()
        if not given.json:
            self._show(request)
        feedback = self._feedback(request, approved=given.approve, text=given.remark or "")
        store, message = await self._send(request, feedback)
        document = {"status": "sent", "message": message, "request_id": request.request_id}
        if given.json:
            self._job.out.document({**document, "path": store.path(request.request_id), "request": _document(request)})
        else:
            self._job.out.lines([shown(translate(message))])
        return SENT

    async def _wanted(self) -> Sequence[ReviewRequest]:
        """Return what waits, or the request that is named.

        Raises:
            UnknownName: it isn't there.
            Refused: it waits no more.
        """
        named = self._job.arguments.request
        if named and isinstance(self._source, PublishedRequests):
            found = await self._source.one(named)  # who may not list can read the one that they were told of
            if found is not None:
                self._reviews.take(found.event)
        else:
            async for batch in self._source.batches(follow=False):
                for event in batch:
                    self._reviews.take(event)
        if not named:
            return list(self._reviews.waiting.values())
        if named in self._reviews.waiting:
            return [self._reviews.waiting[named]]
        if named in self._reviews.endings:
            raise Refused(self._reviews.endings[named].words(named), reason="late")
        raise UnknownName(Message("No request {} waits there.", one_line(named, 80)))

    # At a terminal ------------------------------------------------------------------------------------------------

    async def converse(self) -> int:
        """Show each request and take the answer that is typed, until the reviewer leaves or the runtime ends."""
        changed = asyncio.Event()
        following = asyncio.create_task(self._follow(changed))
        lines = _prompt(lambda said: self._job.out.lines(said))
        put_off: set[str] = set()
        told = False
        try:
            while True:
                changed.clear()
                named = self._job.arguments.request
                waiting = [one for one in self._reviews.waiting.values() if one.request_id not in put_off]
                request = next((one for one in waiting if named in ("", one.request_id)), None)
                if request is None:
                    if following.done():
                        await following
                        return SENT
                    if not told:
                        told = True
                        self._say(Message("Waiting for requests; Ctrl+C leaves."))
                    await changed.wait()
                    continue
                told = False
                typed = await self._ask(request, lines, changed)
                if typed is None:
                    return SENT
                if typed == "":
                    put_off.add(request.request_id)
                elif named:
                    return SENT
        finally:
            following.cancel()
            with suppress(asyncio.CancelledError):
                await following

    async def _follow(self, changed: asyncio.Event) -> None:
        problem = ""
        try:
            while True:
                try:
                    async for batch in self._source.batches(follow=True):
                        problem = ""
                        for event in batch:
                            self._reviews.take(event)
                        if batch:
                            changed.set()
                except StorageError as error:
                    if str(error) != problem:
                        problem = str(error)
                        self._job.say(error.message)
                    await asyncio.sleep(_AGAIN)
                else:
                    return
        finally:
            changed.set()

    async def _ask(self, request: ReviewRequest, lines: PromptLines, changed: asyncio.Event) -> str | None:
        """Show a request and take its answer; return a word that says what was done, empty to put it off.

        Returns None when the reviewer leaves.
        """
        self._show(request)
        if (why := refusal(request, verified=self._verified)) is not None:
            self._say(why)
            return ""
        while True:
            keys = {key: key for key in "aflq"}
            self._job.out.lines([_(_KEYS if request.kind == PLAN else _STEP_KEYS).format(**keys)])
            line = await self._line(lines, request, changed)
            if request.request_id not in self._reviews.waiting:
                self._say(self._reviews.endings[request.request_id].words(request.request_id))
                return "settled"
            if line is None:
                return None
            word, _space, text = line.strip().partition(" ")
            match word.casefold():
                case "q" | "quit":
                    return None
                case "l" | "later":
                    return ""
                case "a" | "approve" if not text:
                    feedback = self._feedback(request, approved=True, text="")
                case "f" | "feedback" if text.strip():
                    feedback = self._feedback(request, approved=False, text=text.strip())
                case _:
                    continue
            try:
                _store, message = await self._send(request, feedback)
                self._say(message)
            except (Refused, StorageError) as error:
                self._say(error.message)
                if isinstance(error, StorageError) or error.reason == NOT_TAKEN:
                    continue  # it still waits
            self._reviews.answer(request.request_id)
            return "answered"

    async def _line(self, lines: PromptLines, request: ReviewRequest, changed: asyncio.Event) -> str | None:
        """Return the line that is typed; what is typed doesn't count once the request is settled."""
        typing = asyncio.create_task(lines.next())
        try:
            while not typing.done() and request.request_id in self._reviews.waiting:
                changed.clear()
                settled = asyncio.create_task(changed.wait())
                await asyncio.wait({typing, settled}, return_when=asyncio.FIRST_COMPLETED)
                settled.cancel()
            if not typing.done() and lines.app.is_running:
                lines.app.exit(result="")
            return await typing
        finally:
            typing.cancel()

    # Answers ------------------------------------------------------------------------------------------------------

    def _feedback(self, request: ReviewRequest, *, approved: bool, text: str) -> Feedback:
        """Return an answer.

        Raises:
            BadInput: it is too long.
            Refused: feedback can't decide this.
        """
        feedback = Feedback(approved, text, datetime.now(UTC), request.digest, self._by)
        check_answer(request, feedback, verified=self._verified)
        return feedback

    async def _send(self, request: ReviewRequest, feedback: Feedback) -> tuple[AnswerPlace, Message]:
        """Put an answer and wait a little for what becomes of it; return where, and a sentence about that.

        Raises:
            Refused: somebody else was first, or the runtime didn't take it.
        """
        store = self._store_for(request)
        patience = self._job.arguments.wait if self._job.arguments.wait is not None else _PATIENCE
        return store, await send_answer(store, request, feedback, patience)

    def _store_for(self, request: ReviewRequest) -> AnswerPlace:
        if self._store is not None:
            return self._store
        address = self._reviews.address(request)
        if address not in self._stores:
            self._stores[address] = store_at(address)
        return self._stores[address]

    def _show(self, request: ReviewRequest) -> None:
        width = terminal_width(sys.stdout) if is_terminal(sys.stdout) else 0
        lines = [review_heading(request), *layout(review_rows(request), "  ")]
        given = self._job.arguments
        if not (given.approve or given.remark is not None or is_terminal(sys.stdin, sys.stdout)):
            places = (("--from", given.source if given.source != "-" else ""), ("--to", given.to))
            named = "".join(f" {name} {shlex.quote(place)}" for name, place in places if place)
            lines.append(Whole(f"  hitl-tui review {request.request_id}{named}{self._job.place} --approve"))
        self._job.out.lines(["", *map(shown, wrapped(lines, width))])

    def _say(self, message: str) -> None:
        self._job.out.lines([shown(translate(message))])


def _document(request: ReviewRequest) -> dict[str, Any]:
    changes = request.changes() or ()
    told = [{"how": change.how, "step": change.step.id, "title": change.step.title} for change in changes]
    return {"event": dict(request.event), "changes": told}


def _prompt(say: Any) -> PromptLines:
    async def no_completions(line: str, cursor: int) -> list[Any]:
        return []

    return PromptLines(
        InMemoryHistory(),
        no_completions,
        prompt=lambda: "> ",
        toolbar=lambda: "",
        began=lambda: None,
        say=say,
    )
