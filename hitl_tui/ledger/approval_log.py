"""Who allowed or refused what, as the ledger has it; what ran without a question is put there before it begins."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Any

from hitl_tui.core.board import Board, Draft, Rules, subject_of
from hitl_tui.core.events import EventKind
from hitl_tui.core.interrupts.recognition import title_of
from hitl_tui.core.json_text import canonical, digest
from hitl_tui.core.json_types import Json, TodoState
from hitl_tui.core.messages import Message
from hitl_tui.core.names import clip
from hitl_tui.core.plan_review import EndedBy
from hitl_tui.core.policy import Ruling, rule_label
from hitl_tui.core.requests import Decision, Kind, Outcome, Request, Verdict, lets_run, needed
from hitl_tui.core.supersession import Supersession, past_word
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.ledger.entry_filter import EntryFilter
from hitl_tui.ledger.protocols import Streams, read_stream
from hitl_tui.ledger.records import Entry

ALLOWED = "allowed"
"""Kind of the entry that stands for a decision where the mode or a rule of hitl.toml asked nobody."""

DENIED = "denied"
"""Kind of the entry that stands for a decision where a rule of hitl.toml refused a step, whoever had been asked."""

TASK_STEP = "task_step"
"""Kind of the entry that records a step of a task outside of sessions; with `ruled` a rule decided it."""

ACCEPTED = "plan_accepted"
"""Kind of the entry that says that the limit of revisions, or a rule, accepted a plan, and no person."""


class UnaskedRulings:
    """Writes an entry for each run that nobody was asked about, and for each step that a rule refused.

    Each is written once, also when a process died in between.

    Args:
        ledger: the record.
        session: session id.
        began: when it began, or was copied: what was refused before is on another record.
        now: the clock.
    """

    def __init__(self, ledger: Streams, session: str, began: str, now: Callable[[], str]) -> None:
        self._ledger = ledger
        self._session = session
        self._now = now
        self._written: set[str] | None = None
        self._refused: set[tuple[str, int, str]] = set()
        self._plans: set[int] = set()
        self._began = began
        self._seen: Mapping[str, TodoState] | None = None

    async def write(self, board: Board, rules: Rules, todo: SupervisorTodo) -> None:
        """Put on record what lets a TODO's run begin; nothing where a person or a standing rule decided.

        Raises:
            StorageError: it can't be written; the run must not begin then.
        """
        approval = todo.approval or {}
        if approval.get("channel") != "policy":
            return
        if self._written is None:
            self._written = await self._earlier()
        if todo.run_id in self._written:
            return
        by = str(approval.get("by", ""))
        data = {
            "todo_id": todo.id,
            "run_id": todo.run_id,
            "branch": board.control.branch,
            "verdict": "approve",
            "by": by,
            "channel": "mode" if by.startswith("mode ") else "policy",
            "policy": rules.policy.version,
            "digest": approval.get("digest", ""),
            "title": todo.name,
            "subject": subject_of(Draft(board, rules), todo),
        }
        await self._ledger.record(self._session, ALLOWED, data, self._now())
        self._written.add(todo.run_id)

    async def write_refused(self, board: Board, rules: Rules) -> None:
        """Put on record which steps a rule refused, and with what.

        Raises:
            StorageError: it can't be written.
        """
        if board.todos is self._seen:
            return
        raw = [t for t in board.todos.values() if t["status"] == Status.FAILED and t.get("metadata", {}).get("denied")]
        if raw and self._written is None:
            self._written = await self._earlier()
        for todo in map(SupervisorTodo.from_state, raw):
            key = (todo.id, todo.asked, todo.completed_at)
            if key in self._refused or todo.completed_at < self._began:
                continue
            named = todo.metadata["denied"]
            subject = subject_of(Draft(board, rules), todo)
            data = {
                "todo_id": todo.id,
                "branch": board.control.branch,
                "asked": todo.asked,
                "denied_at": todo.completed_at,
                "verdict": Verdict.REJECT.value,
                "by": f"policy rule {rule_label(named['rule'], named['name'])}",
                "channel": "policy",
                **named,
                "policy": rules.policy.version,
                "digest": digest(subject),
                "title": todo.name,
                "subject": subject,
            }
            await self._ledger.record(self._session, DENIED, data, self._now())
            self._refused.add(key)
        self._seen = board.todos

    async def write_plan(self, board: Board) -> None:
        """Put on record what accepted the plan where nobody was asked: the limit of revisions, or a rule.

        Raises:
            StorageError: it can't be written; nothing may begin then.
        """
        control = board.control
        if control.reviewed.get("ended_by") not in (EndedBy.LIMIT, EndedBy.RULE) or control.branch in self._plans:
            return
        if self._written is None:
            self._written = await self._earlier()
        if control.branch not in self._plans:
            data = {**control.reviewed, "branch": control.branch}
            await self._ledger.record(self._session, ACCEPTED, data, self._now())
            self._plans.add(control.branch)

    async def _earlier(self) -> set[str]:
        found: set[str] = set()
        async for entry in read_stream(self._ledger, self._session):
            if entry.kind == ALLOWED:
                found.add(str(entry.data["run_id"]))
            elif entry.kind == DENIED:
                self._refused.add((entry.data["todo_id"], entry.data["asked"], entry.data["denied_at"]))
            elif entry.kind == ACCEPTED:
                self._plans.add(int(entry.data["branch"]))
        return found


RESTORED = "restored"
"""What a `LoggedDecision` about going back to an earlier checkpoint says."""
FORKED, IMPORTED = "forked", "imported"
"""What one says about how the session began that is a copy of another."""
REOPENED = "reopened"
"""A rejection, a skip or an approval was taken back, so the step is asked about again with the same input."""
EDITED = "edited"
"""Another input of a step was asked for; what is decided from then on is about that."""
_LONGEST, _TASK = 200, "task"
_SAID_ANYWAY = frozenset({"accept", "approve", "edit", "ignore", "reject", "respond", "response"})
"""Values of an answer that say again what was decided."""
_MADE = frozenset({"argv", "calls", "programs", "preview", "exit_codes", "timeout"})
"""Arguments that follow from the others, or from files."""
_BY_HAND: Mapping[str, Verdict] = MappingProxyType(
    {EventKind.SKIP: Verdict.SKIP, EventKind.CANCEL: Verdict.STOP, EventKind.STOP: Verdict.STOP}
)
"""Orders that decide about steps which asked nothing."""


@dataclass(frozen=True, slots=True)
class LoggedDecision:
    """One decision, as the record has it.

    Args:
        asked: what it was about: a `core.requests.Kind`; `allowed` where nobody was asked, `denied` where a rule
            refused; `restored` for going back, `forked` and `imported` for the beginning of a copy.
        todo_id: the TODO, or the step of a task; empty for the plan, a proposal, going back and a copy.
        verdict: a verdict in a word (`approve`, `edit`, `retry`, …), `restored`, `forked`, `imported`, `reopened` or
            `edited`.
        by: who; `mode risk`, `policy rule 2 "no payments"` or `deadline` where nobody said it.
        channel: `console`, `repl`, `cli`, `rule`, `mode`, `policy`, `deadline`; empty where it isn't recorded.
        at: ISO 8601, UTC.
        reason: their words; of an edit what the input became.
        about: what it was about in a line: a step's title, a message of an agent, of going back the checkpoint's id;
            empty where that isn't known.
        answer: what a question of a step's team was answered: the words, or each value that isn't as it was asked.
        runs: of a proposal: the low-risk steps that it adds run without another question.
        edits: of an edit each value that changed: its name, what it was, what it became.
        undone: of what was reopened, the verdict that was taken back; empty where that isn't known.
        vote: which one it is of those that its question takes; 0 where one is enough.
        takes: how many those are; 0 where one is enough.
        void: why it settled nothing and doesn't count any more, in a few words; empty where it does.
        number: of the checkpoint that was gone back to, or where a fork begins; 0 where it isn't recorded.
        source: the session that a copy comes from.
    """

    asked: str
    todo_id: str
    verdict: str
    by: str
    channel: str
    at: str
    reason: str = ""
    about: str = ""
    undone: str = ""
    answer: str = ""
    runs: bool = False
    edits: tuple[tuple[str, str, str], ...] = ()
    vote: int = 0
    takes: int = 0
    void: str = ""
    number: int = 0
    source: str = ""

    def to_dict(self) -> dict[str, Json]:
        return {**asdict(self), "edits": [[*edit] for edit in self.edits]}


async def logged_decisions(ledger: Streams, session: str, wanted: EntryFilter | None = None) -> list[LoggedDecision]:
    """Return everything that was decided in a session, in the order of its record.

    Args:
        ledger: the record.
        session: the session, or a task outside of sessions.
        wanted: which entries count; None for all.

    Each person of a quorum has a line of their own. A session that was imported or forked begins with its own record:
    what was decided before is in its state.

    Raises:
        StorageError: the record can't be read.
    """
    asked: dict[str, Request] = {}
    titles: dict[str, str] = {}
    inputs: dict[str, dict[str, str]] = {}
    votes = _Votes()
    found: list[LoggedDecision] = []
    async for entry in read_stream(ledger, session):
        for place, void in votes.ended(entry):
            found[place] = replace(found[place], void=void)
        counts = wanted is None or wanted.wants(entry)
        if entry.kind == "request_opened":
            request = Request.from_dict(entry.data["request"])
            asked[request.id] = request
            if request.kind is Kind.TODO:
                titles[request.todo_id] = _about(request)
                inputs[request.todo_id] = input_values(request.subject["arguments"], request.subject["task"])
            continue
        change = _changed_by_hand(entry, inputs) or _said(entry, asked)
        if change is not None and entry.kind == "decision":
            change = votes.counted(change, Decision.from_dict(entry.data["decision"]), asked, len(found), kept=counts)
        if change is not None and counts:
            found.append(change if change.about else replace(change, about=titles.get(change.todo_id, "")))
    return found


class _Votes:
    """What was said so far of questions that take several people, and what became of that."""

    def __init__(self) -> None:
        self._said: dict[str, list[tuple[Decision, int]]] = {}

    def counted(
        self, said: LoggedDecision, decision: Decision, asked: Mapping[str, Request], place: int, *, kept: bool
    ) -> LoggedDecision:
        """Return a decision as the vote that it is; itself where one person is enough.

        Args:
            said: the decision.
            decision: the same, as the record has it.
            asked: the requests, by id.
            place: where it is listed, if it is `kept`.
        """
        request = asked.get(decision.request_id)
        if request is None or (takes := needed(request, decision.verdict)) <= 1:
            return said
        votes = self._said.setdefault(request.id, [])
        votes.append((decision, place if kept else -1))
        number = sum(vote.verdict is decision.verdict for vote, _ in votes)
        return replace(said, vote=min(number, takes), takes=takes)

    def ended(self, entry: Entry) -> Iterator[tuple[int, str]]:
        """Yield the places of those that an entry leaves without effect, and why."""
        data = entry.data
        event = data.get("event") if entry.kind == "event" else None
        if entry.kind == "decision" and data["decision"].get("without"):
            decision = Decision.from_dict(data["decision"])
            votes = self._said.get(decision.request_id, [])
            self._said[decision.request_id] = [(vote, place) for vote, place in votes if not decision.ends(vote)]
            said = Message("no approver any more")
            yield from ((place, said) for vote, place in votes if place >= 0 and decision.ends(vote))
        elif entry.kind == "request_superseded":
            why = data["reason"] if "reason" in data else data["why"]
            word = Supersession.from_dict(why).word if isinstance(why, Mapping) else str(why)
            yield from ((place, word) for _, place in self._said.pop(str(data["request_id"]), ()) if place >= 0)
        elif isinstance(event, Mapping) and event.get("kind") == EventKind.DECIDED:
            for vote, place in self._said.pop(str(event["request_id"]), ()):
                if place >= 0 and (vote.verdict != event["verdict"] or event["outcome"] == Outcome.EXPIRED):
                    yield (
                        place,
                        Message("the question expired")
                        if event["outcome"] == Outcome.EXPIRED
                        else past_word(event["verdict"]),
                    )


def _changed_by_hand(entry: Entry, inputs: dict[str, dict[str, str]]) -> LoggedDecision | None:
    """Return what a person did to a step beside answering; the inputs of steps, as far as they are known, are kept."""
    if entry.kind == "restore_intended":
        inputs.clear()  # steps are again what they were; each is asked about anew
    event = entry.data.get("event") if entry.kind == "event" else None
    if not isinstance(event, Mapping) or event.get("kind") not in (EventKind.EDIT, EventKind.UPDATE, EventKind.REWIND):
        return None
    data, by, at = event["data"], str(event["by"]), str(event["at"])
    channel = str(data.get("channel") or "")
    todo_id = str(data["todo_id"])
    if event["kind"] == EventKind.UPDATE:
        reopens, undone = data.get("status") == Status.PENDING, str(data.get("was") or "")
        return LoggedDecision(REOPENED, todo_id, REOPENED, by, channel, at, undone=undone) if reopens else None
    if event["kind"] == EventKind.REWIND:
        edits = _state_edits(data)
        return LoggedDecision(EDITED, todo_id, EDITED, by, channel, at, _listed(edits), edits=edits) if edits else None
    now = input_values(data.get("arguments"), data.get("description", ""))
    before = inputs.get(todo_id, {})
    inputs[todo_id] = now
    for also in data.get("also", ()):
        inputs[str(also["todo_id"])] = input_values(also.get("arguments"), also.get("description", ""))
    if now == before:
        return LoggedDecision(REOPENED, todo_id, REOPENED, by, channel, at, undone=str(data.get("was") or ""))
    edits = tuple(input_changes(before, now))
    return LoggedDecision(EDITED, todo_id, EDITED, by, channel, at, _listed(edits), edits=edits)


def _listed(edits: Iterable[tuple[str, str, str]]) -> str:
    return ", ".join(f"{name}: {was} → {becomes}" if was else f"{name}: {becomes}" for name, was, becomes in edits)


def _state_edits(data: Mapping[str, Any]) -> tuple[tuple[str, str, str], ...]:
    """Return what a change made of the state of a graph: name, value before, value now."""

    def text(change: Mapping[str, Json], side: str) -> str:
        if side not in change:
            return ""
        value = change[side]
        return clip(value if isinstance(value, str) else canonical(value).decode(), _LONGEST)

    changes = data.get("changes") or [{"name": n, "after": v} for n, v in (data.get("values") or {}).items()]
    return tuple((str(c["name"]), text(c, "before"), text(c, "after")) for c in changes)


def input_changes(before: Mapping[str, str], now: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Return what differs between two inputs: name, value before, value now; the task only where nothing else does."""
    names = [name for name in dict.fromkeys([*before, *now]) if before.get(name) != now.get(name)]
    told = [name for name in names if name != _TASK] or names
    return [(name, before.get(name, ""), now.get(name, "")) for name in told]


def input_values(arguments: object, task: object) -> dict[str, str]:
    """Return what a person may set of a step, by name, in a few words each: its task and its arguments."""
    set_by_people = arguments if isinstance(arguments, Mapping) else {}
    return {_TASK: clip(str(task), _LONGEST), **_values({k: v for k, v in set_by_people.items() if k not in _MADE})}


def _values(fields: Mapping[str, Json]) -> dict[str, str]:
    """Return values by name in a few words each, those of an object within by their own names."""
    found: dict[str, str] = {}
    for name, value in fields.items():
        if isinstance(value, Mapping):
            found |= _values(value)
        else:
            found[str(name)] = clip(value if isinstance(value, str) else canonical(value).decode(), _LONGEST)
    return found


def _answer(given: Json, asked: Json) -> str:
    """Return in a line what was answered; of an object what it doesn't have in common with what was asked about."""
    if given is None or isinstance(given, str):
        return clip(given or "", _LONGEST)
    if not isinstance(given, Mapping) or not isinstance(asked, Mapping):
        return clip(canonical(given).decode(), _LONGEST)
    known, said = _values(asked), _values(given)
    changes = [change for change in input_changes(known, {**known, **said}) if change[2] not in _SAID_ANYWAY]
    return "; ".join(f"{name}: {was} → {becomes}" if was else f"{name}: {becomes}" for name, was, becomes in changes)


def _about(request: Request) -> str:
    """Return what a request is about: what a proposal would change, a title with its command line; empty for a plan."""
    if request.kind is Kind.PROPOSAL:
        return request.about.get("reason") or request.about.get("text") or ""
    if request.kind is Kind.PLAN:
        return ""
    return _step(title_of(request), request.subject) if request.kind is Kind.TODO else title_of(request)


def _step(title: str, subject: Mapping[str, Any]) -> str:
    """Return which step it is in a line: its title with its command line, or with what it is called with."""
    arguments = subject.get("arguments") or {}
    argv = arguments.get("argv")
    line = shlex.join(map(str, argv)) if isinstance(argv, list) else ""
    if "calls" in arguments and isinstance(given := arguments.get("input"), Mapping):
        told, values = title.split(), [f"{name}={value}" for name, value in _values(given).items()]
        line = clip(", ".join(value for value in values if value not in told), _LONGEST)
    return ": ".join(filter(None, (title, line)))


def _ruled(entry: Entry) -> LoggedDecision:
    """Return what a rule decided about a step of a task."""
    data, ruled = entry.data, entry.data["ruled"]
    denied = ruled["ruling"] == Ruling.DENY
    kind, verdict = (DENIED, Verdict.REJECT) if denied else (ALLOWED, Verdict.APPROVE)
    call = data.get("call")
    given = canonical(call["arguments"]).decode() if call else str(data.get("message", ""))
    about = clip(f"{data['action']}: {given}" if given else str(data["action"]), _LONGEST)
    by = f"policy rule {rule_label(int(ruled['rule']), str(ruled['name']))}"
    return LoggedDecision(kind, str(data["step"]), verdict.value, by, "policy", entry.at, about=about)


def _said(entry: Entry, asked: Mapping[str, Request]) -> LoggedDecision | None:
    data = entry.data
    if entry.kind == "decision":
        decision = Decision.from_dict(data["decision"])
        request = asked.get(decision.request_id)
        kind = todo_id = about = ""
        if request is not None:
            kind, about = request.kind.value, _about(request)
            todo_id = request.todo_id or str(request.subject.get("step", ""))
        said, by, channel, why = decision.said, decision.by, decision.channel, decision.reason
        answer = _answer(decision.value, request.subject.get("value")) if kind == Kind.INTERRUPT and request else ""
        runs = kind == Kind.PROPOSAL and lets_run(decision.value)
        return LoggedDecision(kind, todo_id, said, by, channel, decision.at, why, about, answer=answer, runs=runs)
    if entry.kind in (ALLOWED, DENIED):
        by, channel = str(data["by"]), str(data["channel"])
        subject = data["subject"]
        about = _step(str(data.get("title") or subject["task"]), subject)
        return LoggedDecision(
            entry.kind, str(data["todo_id"]), str(data["verdict"]), by, channel, entry.at, about=about
        )
    if entry.kind == TASK_STEP and data.get("ruled"):
        return _ruled(entry)
    if entry.kind == ACCEPTED:
        by, channel = str(data["by"]), str(data.get("channel", data["by"]))
        return LoggedDecision(Kind.PLAN.value, "", Verdict.APPROVE.value, by, channel, entry.at)
    if entry.kind == "restore_intended":
        origin = data.get("origin") or {}
        what = {"fork": FORKED, "import": IMPORTED}.get(str(origin.get("kind")), RESTORED)
        told = origin or data
        by, channel = str(data.get("by", "")), str(told.get("channel", ""))
        return LoggedDecision(
            what,
            "",
            what,
            by,
            channel,
            entry.at,
            about=str(data.get("checkpoint_id", "")),
            number=int(told.get("number", 0)),
            source=str(origin.get("session", "")),
        )
    event = data.get("event") if entry.kind == "event" else None
    if not isinstance(event, Mapping):
        return None
    if event.get("kind") in _BY_HAND:
        given, verdict = event["data"], _BY_HAND[event["kind"]]
        kind, why, channel = Kind.TODO, str(given.get("reason") or ""), str(given.get("channel") or "")
        if event["kind"] == EventKind.STOP:
            kind = Kind.PLAN
        return LoggedDecision(
            kind, str(given.get("todo_id", "")), verdict, str(event["by"]), channel, str(event["at"]), why
        )
    if event.get("kind") == "decided" and event.get("channel") == "deadline":
        kind, todo_id = str(event["asked"]), str(event["todo_id"])
        return LoggedDecision(kind, todo_id, str(event["verdict"]), "deadline", "deadline", str(event["at"]))
    return None
