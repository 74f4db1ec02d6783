"""`QuestionFollower`: what a plan asks, followed from one board to the next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hitl_tui.core.board import Board, Draft, Rules
from hitl_tui.core.plan_index import FROZEN, changed_between, turn_of
from hitl_tui.core.questions import Key, askers, inputs_named, is_drafted, question_keys, questions_of
from hitl_tui.core.requests import Kind, Request


@dataclass(frozen=True, slots=True)
class OtherQuestions:
    """What became another between two boards.

    Args:
        askers: those of whose questions one has another key, or that ask something for the first time or no more.
        opened: what they ask that wasn't asked before, and who does, in the order it is asked.
        ended: ids of what was asked and isn't any more.
    """

    askers: Sequence[str]
    opened: Sequence[tuple[str, Request]]
    ended: Sequence[str]


class QuestionFollower:
    """Keeps the questions of the plan that a session stands at.

    A question is worked out anew when its key (`question_keys`) is another. Keys are compared

    - of a TODO, when it, or one whose results it gets, isn't equal to what it was on the board before,
    - of the plan and of proposals at each board, for they rest on all of it,
    - of everybody when the branch is another, or whether the plan is a draft.

    Under other rules everything is worked out anew together with the first key that is another: the event that tells of
    them changes keys, and until then questions stand as they were asked.
    """

    def __init__(self) -> None:
        self.askers: Sequence[str] = ()
        """Who asks, in order."""
        self.requests: dict[str, tuple[Request, ...]] = {}
        """What is asked, by who asks it."""
        self._board: Board | None = None
        self._rules: Rules | None = None
        self._keys: dict[str, dict[str, Key]] = {}
        self._named: dict[str, dict[str, Request | None]] = {}

    def move(self, board: Board, rules: Rules) -> OtherQuestions:
        """Follow the plan to a board."""
        if board is self._board:
            return OtherQuestions((), (), ())
        keys = {asker: question_keys(board, asker) for asker in self._reached(board)}
        keys = {i: found for i, found in keys.items() if [*found.items()] != [*self._keys.get(i, {}).items()]}
        self._board, self.askers = board, askers(board)
        if keys and rules != self._rules:
            self._rules, self._named = rules, {}
            keys = {**keys, **{asker: known for asker, known in self._keys.items() if asker not in keys}}
        draft = Draft(board, rules)
        opened: list[tuple[str, Request]] = []
        ended: list[str] = []
        for asker in sorted(keys, key=lambda asker: _place(board, asker)):
            before = {request.id: request for request in self.requests.get(asker, ())}
            now = self._work_out(draft, asker, keys[asker])
            self.requests[asker] = tuple(before.get(i, request) for i, request in now.items())
            opened += [(asker, request) for i, request in now.items() if i not in before]
            ended += before.keys() - now.keys()
            if not keys[asker]:
                for kept in (self._keys, self._named, self.requests):
                    kept.pop(asker, None)
        return OtherQuestions(tuple(keys), opened, ended)

    def _reached(self, board: Board) -> Iterable[str]:
        """Return of whom a key may be another."""
        before, index = self._board, board.index
        if before is None or _course(before) != _course(board):
            return dict.fromkeys([*askers(board), *self._keys])
        changed = changed_between(before.todos, board.todos)
        among = frozenset(changed)
        fed = [i for i in index.groups[FROZEN] if not among.isdisjoint(inputs_named(board.todos[i]))]
        users = [user for i in changed for user in index.users.get(i, ())]
        whole = [Kind.PLAN.value, *board.control.proposals, *before.control.proposals]
        return dict.fromkeys([*changed, *users, *fed, *whole])

    def _work_out(self, draft: Draft, asker: str, keys: dict[str, Key]) -> dict[str, Request]:
        """Return what one asks, by id; what has the key that it had isn't worked out again."""
        known, named = self._keys.get(asker, {}), self._named.get(asker, {})
        other = [name for name, key in keys.items() if name not in named or known[name] != key]
        found = questions_of(draft, asker, other)
        self._keys[asker] = keys
        self._named[asker] = {name: found[name] if name in found else named[name] for name in keys}
        return {request.id: request for request in self._named[asker].values() if request is not None}


def _course(board: Board) -> tuple[object, ...]:
    return board.control.branch, is_drafted(board)


def _place(board: Board, asker: str) -> tuple[object, ...]:
    turn = turn_of(asker, board.todos.get(asker), board.index.places.get(asker, 0))
    return (1,) if turn is None else (0, turn)
