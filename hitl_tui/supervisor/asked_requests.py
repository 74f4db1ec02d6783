"""`AskedRequests`: the requests that a session has open, and what interfaces show of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from hitl_tui.core.json_types import TodoState
from hitl_tui.core.plan_index import changed_between
from hitl_tui.core.question_follower import OtherQuestions, QuestionFollower
from hitl_tui.core.requests import Kind, Request
from hitl_tui.ledger.records import RequestView
from hitl_tui.policy.approvers import Approvers
from hitl_tui.supervisor.bound_files import GIVEN
from hitl_tui.supervisor.snapshot import Question, as_questions, has_preview, with_obstacles


@dataclass(slots=True)
class _Asked:
    asker: str
    request: Request
    view: RequestView | None = None


class AskedRequests:
    """The requests that a session has open, with what the ledger says of each.

    What is asked of all of them at every event is kept up with each that is opened, read and ended: which have to be
    read, which can expire, and which show how files were.

    Args:
        follower: says who asks what.
    """

    def __init__(self, follower: QuestionFollower) -> None:
        self._follower = follower
        self._asked: dict[str, _Asked] = {}
        self.unread: dict[str, None] = {}
        """Ids of those that have to be read: they are new, or evidence came."""
        self.watched: set[str] = set()
        """Ids of those that may change without an event: others decide, too, or their time begins when one is seen."""
        self._timed: set[str] = set()
        self._ends: dict[str, str] = {}
        self._bound: dict[str, Request] = {}
        self._touched: set[str] = set()
        self._shown: dict[str, tuple[Question, ...]] = {}
        self._order: Sequence[str] = ()
        self._questions: tuple[Question, ...] = ()
        self._todos: Mapping[str, TodoState] = {}
        self._approvers: Approvers | None = None

    def __len__(self) -> int:
        return len(self._asked)

    def __contains__(self, request_id: object) -> bool:
        return request_id in self._asked

    def __iter__(self) -> Iterator[str]:
        return iter(self._asked)

    @property
    def have_deadlines(self) -> bool:
        """At least one of them can expire."""
        return bool(self._timed)

    @property
    def first_end(self) -> str:
        """When the first of them expires, ISO 8601; empty for never, or while nobody saw those that can."""
        return min(self._ends.values(), default="")

    @property
    def bound(self) -> Mapping[str, Request]:
        """Those that are bound to files, or show a preview, by id: what runs may change what is there."""
        return self._bound

    def asked_by(self, asker: str) -> list[str]:
        """Return the ids of those that somebody asks."""
        return [request_id for request_id, asked in self._asked.items() if asked.asker == asker]

    def follow(self, other: OtherQuestions, opened: Iterable[tuple[str, Request]]) -> list[str]:
        """Take out what isn't asked any more and add what is; return the ids of what was there and is no more.

        Args:
            other: what the follower's last move made another.
            opened: of what is asked what stands in the ledger now, and who asks it.
        """
        ended = [request_id for request_id in other.ended if self._asked.pop(request_id, None) is not None]
        for request_id in ended:
            self._timed.discard(request_id)
            self.watched.discard(request_id)
            for kept in (self.unread, self._ends, self._bound):
                kept.pop(request_id, None)
        for asker, request in opened:
            self._asked[request.id] = _Asked(asker, request)
            self.unread[request.id] = None
            if request.terms.deadline:
                self._timed.add(request.id)
            if _is_bound(request):
                self._bound[request.id] = request
        self._touched.update(other.askers)
        return ended

    def outdate(self, request_id: str) -> None:
        """Note that the ledger has something new of one; until that is read it isn't shown."""
        asked = self._asked.get(request_id)
        if asked is not None:
            asked.view = None
            self.unread[request_id] = None
            self._ends.pop(request_id, None)
            self._touched.add(asked.asker)

    def read(self, view: RequestView) -> None:
        """Take in what the ledger says of one."""
        request = view.request
        asked = self._asked.get(request.id)
        if asked is None:  # it ended meanwhile
            return
        if asked.view != view:
            asked.view = view
            self._touched.add(asked.asker)
        self._ends.pop(request.id, None)
        if request.expires_at:
            self._ends[request.id] = request.expires_at
        begins_when_shown = request.terms.deadline and request.ends_in_approval and not request.first_shown
        if asked.request.terms.quorum > 1 or begins_when_shown:
            self.watched.add(request.id)
        else:
            self.watched.discard(request.id)
        self.unread.pop(request.id, None)

    def questions(self, todos: Mapping[str, TodoState], approvers: Approvers) -> tuple[Question, ...]:
        """Return them as interfaces show them, in the order they are asked; those not read yet are left out.

        What one asks is put together anew where it was touched, where its TODO isn't equal to what it was, and where
        other people count than before.

        Args:
            todos: TODOs by id, as checkpoints keep them.
            approvers: who counts.
        """
        order, asked = self._follower.askers, self._follower.requests
        touched = self._touched.union(i for i in changed_between(self._todos, todos) if i in self._shown or i in asked)
        if approvers != self._approvers:
            touched.update(self._shown, asked)
        if touched or order != self._order:
            for asker in touched:
                self._put_together(asker, todos, approvers)
            if [*self._shown] != order:
                self._shown = {asker: self._shown[asker] for asker in order if asker in self._shown}
            self._questions = tuple(chain.from_iterable(self._shown.values()))
        self._touched, self._todos, self._approvers, self._order = set(), todos, approvers, order
        return self._questions

    def _put_together(self, asker: str, todos: Mapping[str, TodoState], approvers: Approvers) -> None:
        known = {question.id: question for question in self._shown.get(asker, ())}
        asked = [self._asked.get(request.id) for request in self._follower.requests.get(asker, ())]
        views = [one.view for one in asked if one is not None and one.view is not None]
        if views:
            found = with_obstacles(as_questions(views, todos), approvers)
            self._shown[asker] = tuple(_same(known.get(question.id), question) for question in found)
        else:
            self._shown.pop(asker, None)


def _same(known: Question | None, question: Question) -> Question:
    """Return the question that is known where nothing of it changed: it may have worked things out already."""
    return known if known is not None and known == question else question


def _is_bound(request: Request) -> bool:
    if request.kind not in (Kind.TODO, Kind.FAILURE):
        return False
    arguments = request.subject.get("arguments") or {}
    return has_preview(request) or any(key in arguments for key in GIVEN)
