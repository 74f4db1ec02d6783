"""What interfaces see of a session: one immutable snapshot, free of LangGraph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Required, TypedDict, cast

from hitl_tui.core.interrupts.answer_parser import option_words, stop_reason
from hitl_tui.core.interrupts.numbers import highest_number, interrupts_of
from hitl_tui.core.interrupts.shape import STOP, Shape, commands_of, shape_document
from hitl_tui.core.json_types import Json, JsonObject, PlanReviewed, ProposalState, Refusal, Subject, TodoState
from hitl_tui.core.messages import Message
from hitl_tui.core.plan import current_todo_id
from hitl_tui.core.plan_index import PlanFollower
from hitl_tui.core.plan_review import UNSAID, ReviewOptions
from hitl_tui.core.policy import Risk
from hitl_tui.core.requests import Kind, Outcome, Request, Verdict, name_of, needs_verified, subject_in_order
from hitl_tui.core.tally import tally
from hitl_tui.core.todos import GAPS, Priority, Status, SupervisorTodo, summarise
from hitl_tui.ledger.records import RequestView
from hitl_tui.policy.approvers import Approvers

PLANNING, WAITING, RUNNING, FINISHED, FAILED = "planning", "waiting", "running", "finished", "failed"

_COMMANDS: Mapping[Kind, Mapping[Verdict, str]] = {
    Kind.TODO: {
        Verdict.APPROVE: "/todo approve {id}",
        Verdict.REJECT: "/todo reject {id} REASON",
        Verdict.SKIP: "/todo skip {id} [REASON]",
    },
    Kind.FAILURE: {
        Verdict.RETRY: "/todo retry {id}",
        Verdict.SKIP: "/todo skip {id} [REASON]",
        Verdict.STOP: "/stop {request}",
    },
    Kind.EFFECT: {
        Verdict.USE_AS_DONE: "/todo done {id}",
        Verdict.DO_AGAIN: "/todo again {id}",
        Verdict.STOP: "/todo reject {id} REASON",
    },
    Kind.INTERRUPT: {},
    Kind.PLAN: {Verdict.APPROVE: "/plan approve {request}", Verdict.REJECT: "/plan reject {request} [FEEDBACK]"},
    Kind.PROPOSAL: {Verdict.APPROVE: "/proposal accept {id}", Verdict.REJECT: "/proposal reject {id}"},
    Kind.EXTERNAL: {},
}


RESCUE = "rescue"
"""What the command is called that goes back to before the answer that made a graph fail."""

EDIT = "edit"
"""What the command is called that changes what a step is given, or fills in what it lacks."""

KEEP = "keep"
"""What the command is called that accepts some changes of a proposal."""


def has_preview(request: Request) -> bool:
    """Return whether what would run is worked out before it is approved: its command's preview, or a team's queries."""
    about_a_run = request.kind in (Kind.TODO, Kind.FAILURE)
    declared = about_a_run and bool((request.subject.get("arguments") or {}).get("preview"))
    return declared or bool(request.about.get("previewed"))


@dataclass(frozen=True)
class Question:
    """One open request as interfaces show it.

    Args:
        view: the request, its decisions so far and its evidence (a preview's output).
        number: which of the interrupts that its TODO ever had, from 1; 0 for any other question.
        lone: its TODO never asked anything else from inside and asks nothing else now: its id alone is name enough.
        beside: how many more of its TODO's nodes wait now.
        obstacle: why nobody can approve it, with what helps; empty where somebody can.
        able: the names of those who can, where not everybody can.
        priority: its TODO's now, which may have changed since it was opened; empty for one about no TODO.
    """

    view: RequestView
    number: int = 0
    lone: bool = True
    beside: int = 0
    obstacle: str = ""
    able: tuple[str, ...] = ()
    priority: str = ""

    @property
    def id(self) -> str:
        return self.view.request.id

    @property
    def digest(self) -> str:
        return self.view.request.digest

    @property
    def kind(self) -> Kind:
        return self.view.request.kind

    @property
    def todo_id(self) -> str:
        return self.view.request.todo_id

    @cached_property
    def risk(self) -> Risk:
        """Its class of risk, never less than that of an action which waits inside it."""
        inner = self.shape is not None and self.shape.risk == Risk.HIGH
        return Risk.HIGH if inner else self.view.request.risk_class

    @property
    def incomplete(self) -> bool:
        """Its step lacks an argument, so it has to be filled in before anybody can approve it."""
        return self.kind is Kind.TODO and Verdict.APPROVE not in self.view.request.options

    @property
    def parts(self) -> int:
        """How many changes it proposes, each of which can be accepted alone; 0 for any other question."""
        return len(self.view.request.subject.get("proposal", {}).get("changes", ()))

    def accepting(self, numbers: Collection[int]) -> Json:
        """Return the value of an approval that accepts the changes of these numbers, from 1; None for all of them."""
        return None if set(numbers) == set(range(1, self.parts + 1)) else {"changes": sorted(set(numbers))}

    @property
    def adds_low_risk_only(self) -> bool:
        """It is a proposal of further steps of low risk that nothing lacks: they may be let run with it."""
        changes = self.view.request.subject.get("proposal", {}).get("changes", ())
        added = [change["todo"] for change in changes if "todo" in change]
        return bool(added) and len(added) == len(changes) and all(_is_complete_low_risk(todo) for todo in added)

    @property
    def name(self) -> str:
        """What commands call it: the TODO's id (`todo_001.2` for one of several interrupts), or the proposal's.

        It stays the interrupt's while that lives, and is never given to another.
        """
        if self.number and not self.lone:
            return f"{self.todo_id}.{self.number}"
        return self.todo_id or name_of(self.view.request)

    @cached_property
    def shape(self) -> Shape | None:
        """The form of what a team asks from inside; None for any other question."""
        if self.kind is not Kind.INTERRUPT:
            return None
        from hitl_tui.core.interrupts.recognition import form_of

        return form_of(self.view.request)

    @property
    def answers(self) -> tuple[str, ...]:
        """The words that answer it."""
        from hitl_tui.core.interrupts.recognition import answers_to

        return answers_to(self.view.request)

    @cached_property
    def subject(self) -> Subject:
        """What is asked exactly, its fields in the order they were given in; a request's document sorts them."""
        return subject_in_order(self.view.request)

    @property
    def wedged(self) -> bool:
        """A graph failed with an answer that it keeps: to run it again fails again, unless it goes back."""
        return self.kind is Kind.FAILURE and bool(self.view.request.about.get("wedged"))

    @property
    def done_before(self) -> bool:
        """It is about an effect that is known to have happened: the question is whether it happens once more."""
        effect = self.subject.get("effect")
        return self.kind is Kind.EFFECT and isinstance(effect, Mapping) and bool(effect.get("done"))

    @property
    def again(self) -> list[str]:
        """What runs again once it is answered now, a line each."""
        found = list(self.view.request.about.get("again") or ())
        if not self.beside:
            return found
        more = (
            Message("1 other node restarts too, up to its question")
            if self.beside == 1
            else Message("{} other nodes restart too, up to their questions", self.beside)
        )
        return [*found, more]

    @property
    def commands(self) -> dict[str, str]:
        """The chat commands that answer it, by verdict; for what a team asks from inside by action.

        They name it as people do; `bound_commands` are those for programs.
        """
        return self._commands(self.name, self.todo_id, "")

    @cached_property
    def bound_commands(self) -> dict[str, str]:
        """The same commands with the request's id in place of its name: they answer this request or none."""
        return self._commands(self.id, self.id, self.id)

    @property
    def refusal(self) -> str:
        """What the command is called that refuses it: of what can be approved but not rejected, what stops its step."""
        stops = Verdict.REJECT not in self.commands and Verdict.APPROVE in self.commands
        return STOP if stops else Verdict.REJECT.value

    def stops_step(self, answer: str) -> bool:
        """Return whether an answer to what a team asks from inside refuses its step as a whole."""
        if self.shape is None or Verdict.REJECT not in self.view.request.options:
            return False
        return answer == STOP or (answer == Verdict.REJECT and self.refusal == STOP and not self.shape.action(answer))

    def stop_reason(self, text: str) -> str | None:
        """Return why a text refuses its step as a whole, empty for no reason; None where it says something else."""
        words = [word for word in (STOP, Verdict.REJECT) if self.stops_step(word)]
        return stop_reason(self.shape, text, words) if self.shape is not None and words else None

    def option_commands(self, *, bound: bool = False) -> list[str]:
        """Return the chat command for each option of what a team asks; none where it gives no choice.

        Args:
            bound: name the request by its id.
        """
        if self.shape is None:
            return []
        return [f"/answer {self.id if bound else self.name} {word}" for word in option_words(self.shape)]

    def choices(self, commands: Sequence[str]) -> list[Json]:
        """Return the options with the command that gives each, for programs."""
        options = self.shape.options if self.shape is not None else ()
        return [
            {"number": number, "text": option.text, "value": option.value, "command": command}
            for number, (option, command) in enumerate(zip(options, commands, strict=True), start=1)
        ]

    def _commands(self, name: str, todo: str, request: str) -> dict[str, str]:
        options = self.view.request.options
        if self.shape is not None:
            refusal = {STOP: f"/todo reject {todo} REASON"} if Verdict.REJECT in options else {}
            return {**commands_of(self.shape, name), **refusal}
        known = {v: text.format(id=name, request=request) for v, text in _COMMANDS[self.kind].items() if v in options}
        found = {v.value: " ".join(text.split()) for v, text in known.items()}
        if self.parts > 1 and Verdict.APPROVE in options:
            found[KEEP] = f"/proposal keep {name} NUMBERS"
        if self.kind is Kind.TODO:
            edit = {EDIT: f"/todo edit {todo} NAME=VALUE"}
            return {**edit, **found} if self.incomplete else {**found, **edit}
        return {**found, RESCUE: f"/rescue {todo}"} if self.wedged else found

    def to_dict(self) -> dict[str, object]:
        request, about = self.view.request, self.view.request.about.copy()
        if self.again:
            about["again"] = self.again
        if self.priority and "priority" in about:
            about["priority"] = self.priority
        if self.obstacle:
            about["notes"] = [*about.get("notes", ()), self.obstacle]
        return {
            "id": request.id,
            "kind": request.kind.value,
            "todo_id": request.todo_id,
            "source": request.source,
            "subject": dict(request.subject),
            "digest": request.digest,
            "about": about,
            "risk_class": self.risk.value,
            "options": list(self.answers),
            "name": self.name,
            "commands": self.bound_commands,
            **(shape_document(self.shape) if self.shape is not None else {}),
            **({"choices": choices} if (choices := self.choices(self.option_commands(bound=True))) else {}),
            "opened_at": request.opened_at,
            "first_shown": request.first_shown,
            "deadline": request.expires_at,
            "terms": request.terms.to_dict(),
            "decisions": [d.to_dict() for d in self.view.decisions],
            "preview": dict(self.view.evidence),
            **({"obstacle": self.obstacle} if self.obstacle else {}),
            **({"approvers": list(self.able)} if self.able else {}),
        }


def _is_complete_low_risk(todo: Mapping[str, object]) -> bool:
    metadata = cast("JsonObject", todo.get("metadata") or {})
    return todo.get("risk", Risk.LOW.value) == Risk.LOW.value and not (GAPS & metadata.keys())


def as_questions(views: Iterable[RequestView], todos: Mapping[str, TodoState]) -> tuple[Question, ...]:
    """Return open requests as questions; each interrupt has the number that it got when it first appeared.

    Args:
        views: the requests, in the order they are asked: all of each TODO that has one among them.
        todos: TODOs by id, as checkpoints keep them.
    """
    views = list(views)
    together = Counter(v.request.todo_id for v in views if v.request.kind is Kind.INTERRUPT)
    asked = Counter(v.request.todo_id for v in views) if together else together
    questions = []
    for view in views:
        todo_id = view.request.todo_id
        todo = todos.get(todo_id)
        priority = str(todo.get("priority", Priority.MEDIUM)) if todo is not None else ""
        if view.request.kind is not Kind.INTERRUPT:
            questions.append(Question(view, priority=priority))
            continue
        number = _number(view.request, todo)
        lone = number == 1 and asked[todo_id] == 1 and (todo is None or highest_number(todo) <= 1)
        questions.append(Question(view, number, lone, together[todo_id] - 1, priority=priority))
    return tuple(questions)


def listed(view: RequestView, beside: int = 0) -> Question:
    """Return an open request as a question among those of other sessions, which is called as the record calls it.

    Args:
        view: the request.
        beside: how many more of its TODO's nodes wait now.
    """
    return Question(view, int(view.request.about.get("number", 0)), lone=False, beside=beside)


def _number(request: Request, todo: TodoState | None) -> int:
    """Return the number of an interrupt; a request from before they had one is found by what it asks."""
    if "number" in request.about:
        return int(request.about["number"])
    subject = request.subject
    for interrupt in interrupts_of(todo.get("question") if todo is not None else None):
        if all(interrupt.get(key) == subject.get(key) for key in ("path", "index", "value")):
            return int(interrupt["number"])
    return 1


def counted_now(view: RequestView, approvers: Approvers) -> RequestView:
    """Return a request that waits with the votes of those who are approvers now; others end with the next decision."""
    request, resolution = view.request, view.resolution
    gone = approvers.without(resolution.decisions, request.terms) if resolution.outcome is Outcome.PENDING else ()
    if not gone:
        return view
    said, kept = (
        tuple(vote for vote in votes if vote.person not in gone) for votes in (view.decisions, resolution.decisions)
    )
    counted = replace(resolution, decisions=kept, needed=request.terms.quorum - len(kept))
    return replace(view, decisions=said, resolution=counted)


def with_obstacles(questions: Iterable[Question], approvers: Approvers) -> tuple[Question, ...]:
    """Return questions that say who can approve them, or why nobody can, as far as not everybody can.

    Votes are counted as they count now, see `counted_now`.
    """
    found = list[Question]()
    for question in questions:
        view = counted_now(question.view, approvers)
        terms, requester = question.view.request.terms, question.view.request.requester
        obstacle = approvers.shortfall(terms, requester)
        able = approvers.able(terms, requester) if needs_verified(terms) and not obstacle else ()
        same = (question.obstacle, question.able, question.view) == (obstacle, able, view)
        found.append(question if same else replace(question, obstacle=obstacle, able=able, view=view))
    return tuple(found)


class CitationData(TypedDict, total=False):
    """A `teams.contract.Citation` as it is kept."""

    path: Required[str]
    line: Required[int]
    end_line: int
    quote: str
    page: int


class ResponseData(TypedDict, total=False):
    """A `final_answer.Response` as it is kept."""

    text: str
    summary: str
    citations: list[CitationData]
    files: list[str]
    outcome: str
    remarks: list[str]
    found: bool
    question: str
    language: str


def todo_document(todo: SupervisorTodo) -> dict[str, object]:
    """Return a TODO for scripts: stable keys, JSON values. People see what is drawn of the TODO itself."""
    return todo.to_dict()


@dataclass(frozen=True)
class Snapshot:
    """A session at one moment.

    Args:
        session_id: its id.
        query: what was asked.
        workspace: absolute path.
        mode: `step`, `plan` or `risk`.
        phase: the node that ran last.
        branch: the branch it is on.
        cursor: the last inbox event that is in it.
        checkpoint_id: the head.
        raw: TODO dicts by id, as the checkpoint keeps them; `todos` parses them when somebody looks.
        questions: open requests in the order they are asked.
        proposals: open proposals by id.
        response: the final answer (`Response.to_dict()`), None before it is there.
        concluded: the answer covers everything.
        errors: why no plan could be made.
        intent: what the planner understood.
        refused: the last events without effect.
        owned: this process owns the session.
        busy: something is on its way (events not applied, previews running).
        highest: the highest TODO number ever used.
        revision: how often the plan was revised.
        review: how it is reviewed.
        reviewed: who or what ended that; empty while it goes on, and where the mode asks for none.
        lineage: part of the ids of its requests.
        problem: why nothing may begin now, one sentence; empty when it may.
        carrier: who carries it, in a few words, where that is none of this machine's business; empty elsewhere.
        over: what is on record ended it while nobody had it open; its answer is made when somebody does.
        follower: of the plan; snapshots that follow each other share it.
    """

    session_id: str
    query: str
    workspace: str
    mode: str
    phase: str
    branch: int
    cursor: int
    checkpoint_id: str
    raw: Mapping[str, TodoState]
    questions: tuple[Question, ...] = ()
    proposals: Mapping[str, ProposalState] = field(default_factory=dict)
    response: ResponseData | None = None
    concluded: bool = False
    errors: tuple[str, ...] = ()
    intent: JsonObject = field(default_factory=dict)
    refused: tuple[Refusal, ...] = ()
    removed: Mapping[str, TodoState] = field(default_factory=dict)
    owned: bool = True
    busy: bool = False
    highest: int = 0
    revision: int = 0
    review: ReviewOptions = UNSAID
    reviewed: PlanReviewed = field(default_factory=lambda: PlanReviewed())
    lineage: str = ""
    problem: str = ""
    carrier: str = ""
    over: bool = False
    follower: PlanFollower = field(default_factory=PlanFollower, compare=False, repr=False)

    @property
    def taken(self) -> tuple[str, ...]:
        """Ids that new TODOs must not get: those there are, and the last one there ever was."""
        return (*self.raw, f"todo_{self.highest:03d}")

    @cached_property
    def todos(self) -> tuple[SupervisorTodo, ...]:
        """All TODOs in plan order."""
        return self.follower.read(self.raw)

    @property
    def status(self) -> str:
        """`planning`, `running`, `waiting` (needs a person), `finished` or `failed`."""
        if self.questions:
            return WAITING
        if self.concluded or self.over:
            return FAILED if (self.response or {}).get("outcome") == FAILED else FINISHED
        return RUNNING if self.raw else PLANNING

    @cached_property
    def running(self) -> tuple[str, ...]:
        """Ids of the TODOs in progress."""
        return self.follower.running(self.raw)

    @property
    def unstarted(self) -> int:
        """How many TODOs wait to run, whatever for."""
        return self.summary[Status.PENDING] + self.summary[Status.BLOCKED]

    @property
    def at_rest(self) -> bool:
        """Nothing goes on by itself: it waits for a person, or is finished."""
        stands = bool(self.questions) or self.concluded or bool(self.problem)
        return not self.busy and not self.running and stands

    @property
    def current_todo_id(self) -> str:
        """What a plain approval means: the TODO whose question is first, else the one that runs."""
        for question in self.questions:
            if question.kind is Kind.TODO:
                return question.todo_id
        return current_todo_id(self.todos)

    @property
    def summary(self) -> dict[str, int]:
        return summarise(str(t["status"]) for t in self.raw.values())

    @cached_property
    def tally(self) -> dict[str, int]:
        """How many TODOs were done, rejected, skipped, not run and so on; see `core.tally`."""
        return tally(self.raw.values(), found=not self.concluded or (self.response or {}).get("found", True))

    def todo(self, todo_id: str) -> SupervisorTodo | None:
        """Return one TODO, None when there is none."""
        raw = self.raw.get(todo_id)
        return SupervisorTodo.from_state(raw) if raw is not None else None

    def question_of(self, todo_id: str) -> Question | None:
        """Return what is asked about a TODO, None when nothing is."""
        return next((q for q in self.questions if q.todo_id == todo_id and todo_id), None)

    @property
    def todo_documents(self) -> list[dict[str, object]]:
        """The plan for scripts."""
        return [todo_document(todo) for todo in self.todos]

    @property
    def plan_review(self) -> dict[str, Json]:
        """How the review of the plan stands, as JSON; `ended_by` is null while it goes on."""
        options = {"revisions": self.revision, "ended_by": None, **self.review.to_dict()}
        return {**options, **cast("dict[str, Json]", dict(self.reviewed))}

    def to_dict(self) -> dict[str, object]:
        """Return the session for scripts: stable keys, JSON values."""
        return {
            "session_id": self.session_id,
            "query": self.query,
            "workspace": self.workspace,
            "mode": self.mode,
            "phase": self.phase,
            "session_status": self.status,
            "branch": self.branch,
            "checkpoint_id": self.checkpoint_id,
            "current_todo_id": self.current_todo_id,
            "intent": dict(self.intent),
            "todos": self.todo_documents,
            "summary": self.summary,
            "questions": [q.to_dict() for q in self.questions],
            "plan_review": self.plan_review,
        }
