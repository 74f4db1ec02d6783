"""Which questions a board asks, as requests.

A question is derived from the state and never stored beside it, so what is asked and what would run can't drift
apart. Times are missing here: whoever opens the request adds them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, cast

from hitl_tui.core.board import (
    PLAN_DRAFT,
    Board,
    Draft,
    Rules,
    dependencies_met,
    inputs_of,
    judge,
    run_digest,
    subject_of,
)
from hitl_tui.core.errors import HitlError
from hitl_tui.core.given_values import given_values
from hitl_tui.core.interrupts.numbers import interrupts_of
from hitl_tui.core.json_text import digest
from hitl_tui.core.json_types import (
    About,
    DeniedAnswer,
    DoubtfulEffect,
    EarlierResult,
    Interrupt,
    ProposalState,
    ProposedChange,
    ResultReference,
    RunBefore,
    Subject,
    TodoState,
)
from hitl_tui.core.messages import Message
from hitl_tui.core.names import step_name
from hitl_tui.core.plan import Change, next_ids
from hitl_tui.core.plan_index import MEASURED, MISSED, turn_of
from hitl_tui.core.policy import Facts, Judgement, Of, Risk, Ruling, Terms
from hitl_tui.core.proposal_changes import plan_now, plan_then
from hitl_tui.core.requests import OPTIONS, Kind, Request, Verdict, request_id
from hitl_tui.core.todos import Status, SupervisorTodo

Key = tuple[object, ...]


def questions(board: Board, rules: Rules) -> list[Request]:
    """Return everything a board asks now: the plan first, then TODOs by priority and order, then proposals."""
    draft = Draft(board, rules)
    found = [questions_of(draft, asker, names_of(board, asker)) for asker in askers(board)]
    return [request for named in found for request in named.values() if request is not None]


def questions_of(draft: Draft, asker: str, names: Iterable[str]) -> dict[str, Request | None]:
    """Return what is asked by one of `askers`, by some of its `names_of`."""
    if asker not in draft:
        proposal = draft.control.proposals.get(asker)
        return {n: plan_question(draft) if proposal is None else proposal_question(draft, proposal) for n in names}
    todo = draft.get(asker)
    inside = {f"{asker} {interrupt['id']}": interrupt for interrupt in _unanswered(todo)}
    found: dict[str, Request | None] = {}
    for name in names:
        interrupt = inside.get(name)
        own = question_of(draft, todo) if name == asker else None
        found[name] = own if interrupt is None else _interrupt_question(draft, todo, interrupt)
    return found


def askers(board: Board) -> list[str]:
    """Return who asks, in the order they are asked: `plan` alone, or the ids of TODOs and then of proposals."""
    return [Kind.PLAN.value] if is_drafted(board) else [*board.index.askers, *board.control.proposals]


def names_of(board: Board, asker: str) -> Sequence[str]:
    """Return what that which one asks is called: by its own id, and each interrupt by that and the interrupt's."""
    if is_drafted(board):
        return (asker,) if asker == Kind.PLAN.value else ()
    if asker in board.control.proposals:
        return (asker,)
    turn = turn_of(asker, board.todos.get(asker))
    return () if turn is None else turn[4]


def asking(board: Board) -> Iterator[str]:
    """Iterate over the names of everything that is asked, in order; nothing of it is worked out."""
    return iter(askers(board)) if is_drafted(board) else chain(board.index.asking, board.control.proposals)


def count_asked(board: Board) -> int:
    """Return how many names `asking` gives."""
    return 1 if is_drafted(board) else board.index.asked + len(board.control.proposals)


def is_drafted(board: Board) -> bool:
    """Return whether all that is asked is whether the plan may begin."""
    return board.control.plan == PLAN_DRAFT and bool(board.todos)


MOST_CHANGED = 20
"""Files that a question names as changed since the one before."""


def question_keys(board: Board, asker: str) -> dict[str, Key]:
    """Return a cheap key for everything that one asks, by name: while it stays the same, so does the question.

    What a question's subject depends on is in the key; everything else about it is only shown. The key of a TODO's
    rests on its own state, on those of its `inputs_named`, and on the branch.
    """
    control, raw, names = board.control, board.todos.get(asker), names_of(board, asker)
    if raw is None:
        steps = board.todos.items() if is_drafted(board) else ()
        parts = sorted((todo_id, todo.get("rank", 0.0), todo.get("asked", 0)) for todo_id, todo in steps)
        return dict.fromkeys(names, (control.branch, control.revision, control.plan_asked, control.highest, *parts))
    own = (
        control.branch,
        raw["status"],
        raw.get("asked", 0),
        raw.get("attempt", 0),
        raw.get("error", ""),
        raw.get("priority", ""),
        tuple((i, _digest_of(board.todos[i])) for i in inputs_named(raw) if i in board.todos),
    )
    asked = {f"{asker} {i['id']}": i.get("asked", 0) for i in interrupts_of(raw.get("question"))}
    inside = (control.branch, raw.get("attempt", 0), raw.get("priority", ""))
    return {name: (*inside, asked[name]) if name in asked else own for name in names}


def inputs_named(raw: TodoState) -> Sequence[str]:
    """Return the ids of the TODOs whose results one gets; see `board.inputs_of`."""
    return raw.get("dependencies") or raw.get("metadata", {}).get("inputs", ())


def _digest_of(raw: TodoState) -> str | None:
    result = raw.get("result")
    return result.get("digest") if result else None


def question_of(draft: Draft, todo: SupervisorTodo) -> Request | None:
    """Return what would be asked about a TODO now.

    For a pending one that is the approval in advance, which high risk doesn't have: its input isn't known yet. What
    the policy denies isn't asked at all.
    """
    question = todo.question
    if todo.status is Status.WAITING_APPROVAL and question is None:
        return _run_question(draft, todo, ahead=False)
    if todo.status is Status.WAITING_APPROVAL and question is not None:
        if question["kind"] == Kind.EFFECT.value:
            return _effect_question(draft, todo, question["effect"])
        return next((q for _, q in interrupt_questions(draft, todo)), None)
    if todo.status is Status.FAILED and question is not None:
        return _failure_question(draft, todo)
    if todo.status is Status.PENDING and todo.approval is None and judge(draft, todo).ruling is not Ruling.DENY:
        met = dependencies_met(draft, todo.id)
        if met or todo.risk is not Risk.HIGH:
            return _run_question(draft, todo, ahead=not met)
    return None


_NO_SILENT_APPROVAL = Message(
    'on_deadline = "approve" doesn\'t count at high risk: if nobody decides in time, this is rejected.'
)


def _about(draft: Draft, todo: SupervisorTodo) -> About:
    about: About = {
        "title": todo.name,
        "task": todo.description,
        "agent": todo.agent_name,
        "purpose": todo.agent_purpose,
        "expected_output": todo.expected_output,
        "priority": todo.priority.value,
        "risk": todo.risk.value,
        "dependencies": [{"id": d, "status": draft.status(d)} for d in todo.dependencies],
        "missing": list(todo.missing),
        "notes": [*todo.metadata.get("notes", ()), *_conditions(todo), *_unread(todo)],
        "optional": todo.optional,
        "ran_before": _ran_before(todo),
    }
    if todo.metadata.get("changed"):
        about["changed"] = list(todo.metadata["changed"])
    if results := _results(draft, todo):
        about["results"] = results
    about["notes"] += _missed(draft, {result["id"] for result in results})
    return about


def _conditions(todo: SupervisorTodo) -> list[str]:
    """Return what has to hold for a step and isn't checked."""
    conditions = todo.metadata.get("conditions", ())
    return [Message('Nothing checks "{}"; approve it only where that holds.', one) for one in conditions]


def _unread(todo: SupervisorTodo) -> list[str]:
    """Return what was said of a step and isn't in its plan."""
    return [
        Message('{} is planned without regard to "{}".', todo.name, part) for part in todo.metadata.get("unread", ())
    ]


_MOST_MISSED = 3
"""Steps that a question names as not as expected, the last ones."""


def _missed(draft: Draft, shown: Collection[str]) -> list[str]:
    """Return which results aren't what was expected of them; what was measured again counts as it is now.

    Args:
        draft: the plan, of which only what stood on its board counts.
        shown: ids of the steps whose results stand beside the question.
    """
    groups = draft.board.index.groups
    if not groups[MISSED]:
        return []
    measured = sorted(
        map(draft.get, filter(draft.__contains__, groups[MEASURED])), key=lambda todo: (todo.completed_at, todo.rank)
    )
    last = {digest([todo.agent_name, todo.arguments.get("argv", todo.id)]): todo for todo in measured}
    wrong = [(todo, said) for todo in last.values() for said in (todo.result or {}).get("missed", ())]
    said: list[str] = [
        Message("{} isn't as expected: {}", step_name(todo.id), text) for todo, text in wrong if todo.id not in shown
    ]
    return said[-_MOST_MISSED:]


def _ran_before(todo: SupervisorTodo) -> RunBefore:
    """Return how exactly what a TODO would run stood on a branch that was left; empty where something else ran."""
    ran = todo.metadata.get("ran_before", {})
    if "subjects" not in ran:
        return ran
    status = ran["subjects"].get(run_digest(todo))
    return {} if status is None else {"status": status, "branch": ran["branch"]}


def _results(draft: Draft, todo: SupervisorTodo) -> list[EarlierResult]:
    """Return what the steps that a TODO works from or comes after found, in plan order."""
    before = sorted((i for i in {*inputs_of(todo), *todo.dependencies} if i in draft), key=draft.rank)
    found = [(i, draft.get(i).result) for i in before]
    return [_earlier_result(i, result) for i, result in found if result is not None]


def _earlier_result(todo_id: str, result: ResultReference) -> EarlierResult:
    found = bool(result.get("found", True))
    earlier: EarlierResult = {"id": todo_id, "summary": result.get("summary", ""), "found": found}
    if result.get("missed"):
        earlier["missed"] = True
    return earlier


def _request(
    draft: Draft,
    kind: Kind,
    todo: SupervisorTodo,
    subject: Subject,
    about: About,
    *,
    terms: Terms | None = None,
    place: tuple[object, ...] = (),
    asked: int = 0,
    options: tuple[Verdict, ...] = (),
) -> Request:
    seen, branch = digest(subject), draft.control.branch
    terms = terms or judge(draft, todo).terms
    if todo.risk is Risk.HIGH:  # its silence is never consent
        terms = replace(terms, on_deadline="reject")
    return Request(
        id=request_id(
            draft.board.session, branch, todo.id, asked or todo.asked, [kind.value, *place], seen, draft.control.lineage
        ),
        session=draft.board.session,
        branch=draft.control.branch,
        kind=kind,
        todo_id=todo.id,
        source=todo.agent_name,
        subject=subject,
        digest=seen,
        terms=terms,
        options=options or OPTIONS[kind],
        about=about,
        risk=todo.risk.value,
    )


def _run_question(draft: Draft, todo: SupervisorTodo, *, ahead: bool) -> Request:
    about = _about(draft, todo)
    about["ahead"] = ahead
    judged = judge(draft, todo)
    about["rule"] = judged.rule
    if judged.name:
        about["rule_name"] = judged.name
    if todo.risk is Risk.HIGH and judged.terms.on_deadline == "approve":
        about["notes"].append(_NO_SILENT_APPROVAL)
    if nodes := todo.metadata.get("rewind", {}).get("next"):
        about["again"] = [
            Message("`{}` restarts from its top", ", ".join(nodes)),
            Message("What finished inside that step (parallel nodes, tasks, subgraphs) runs again too."),
        ]
    lacks, unplaced = todo.metadata.get("lacks", ()), todo.metadata.get("unplaced", ())
    if unplaced:
        about["notes"].append(
            Message("No argument takes {}: edit the step, or approve it without.", ", ".join(unplaced))
        )
    if lacks:
        about["notes"].append(Message("Still missing: {}. Fill it in, then it can run.", ", ".join(lacks)))
    options = tuple(v for v in OPTIONS[Kind.TODO] if not lacks or v is not Verdict.APPROVE)
    return _request(draft, Kind.TODO, todo, subject_of(draft, todo, ahead=ahead), about, options=options)


def _failure_question(draft: Draft, todo: SupervisorTodo) -> Request:
    subject: Subject = {**subject_of(draft, todo), "run": todo.run_id, "error": todo.error}
    about: About = {**_about(draft, todo), "error": todo.error, "attempts": todo.attempt}
    if todo.question and todo.question.get("wedged"):
        about["wedged"] = True
    ruled = judge(draft, todo)  # to run it again takes what it took to run it; nobody has to say so by a deadline
    options = tuple(v for v in OPTIONS[Kind.FAILURE] if v is not Verdict.RETRY or ruled.ruling is not Ruling.DENY)
    terms = replace(ruled.terms, deadline=0.0)
    return _request(draft, Kind.FAILURE, todo, subject, about, terms=terms, place=(todo.attempt,), options=options)


def _effect_question(draft: Draft, todo: SupervisorTodo, effect: DoubtfulEffect) -> Request:
    subject: Subject = {"session": draft.board.session, "todo": todo.id, "run": todo.run_id, "effect": effect}
    if todo.question and (programs := todo.question.get("programs")):
        subject["programs"] = programs
    about: About = {**_about(draft, todo), "why": effect.get("why", ""), "effect": effect}
    options = tuple(v for v in OPTIONS[Kind.EFFECT] if v.value in effect.get("options", OPTIONS[Kind.EFFECT]))
    return _request(draft, Kind.EFFECT, todo, subject, about, place=(str(effect.get("key", "")),), options=options)


def interrupt_questions(draft: Draft, todo: SupervisorTodo) -> list[tuple[str, Request]]:
    """Return what a TODO's run asks from inside and nobody has answered yet, with the interrupts' ids.

    They stay while an effect is in doubt: a question that was taken back couldn't come again.
    """
    return [(i["id"], _interrupt_question(draft, todo, i)) for i in _unanswered(todo)]


def _unanswered(todo: SupervisorTodo) -> list[Interrupt]:
    if todo.status not in (Status.WAITING_APPROVAL, Status.IN_PROGRESS):
        return []
    return [i for i in interrupts_of(todo.question) if "answer" not in i]


def _interrupt_question(draft: Draft, todo: SupervisorTodo, interrupt: Interrupt) -> Request:
    subject: Subject = {
        "session": draft.board.session,
        "todo": todo.id,
        "team": todo.agent_name,
        "path": list(interrupt.get("path", ())),
        "index": interrupt.get("index", 0),
        "value": interrupt.get("value"),
    }
    if "schema" in interrupt:
        subject["schema"] = interrupt["schema"]
    if "at" in interrupt:
        subject["at"] = interrupt["at"]
    if "programs" in interrupt:
        subject["programs"] = interrupt["programs"]
    terms, policy, denied = judge(draft, todo).terms, draft.rules.policy, list[DeniedAnswer]()
    if any(rule.tool for rule in policy.all_rules):
        from hitl_tui.core.interrupts.tool_permissions import denied_answers, terms_for

        asked = (subject["value"], subject.get("schema"))
        terms = terms_for(policy, todo.agent_name, todo.risk, terms, *asked)
        denied = denied_answers(policy, todo.agent_name, todo.risk, *asked)
        subject["policy"] = policy.version  # under other rules it is another question
    about: About = {**_about(draft, todo), "value": interrupt.get("value"), "again": list(interrupt.get("again", ()))}
    about["number"] = interrupt["number"]
    if denied:
        about["denied"] = denied
    about["notes"] = [*about["notes"], *interrupt.get("notes", ())]
    if "order" in interrupt:
        about["order"] = interrupt["order"]
    about.pop("changed", None)  # what changed before the step was approved was said then
    if interrupt.get("changed"):
        about["changed"] = list(interrupt["changed"])
    entered = todo.metadata.get("entered")
    if entered:
        about["entered"] = dict(entered)
    place = (*interrupt.get("path", ()), interrupt.get("index", 0), todo.attempt, interrupt["id"])
    times = int(interrupt.get("asked", 0))
    return _request(draft, Kind.INTERRUPT, todo, subject, about, terms=terms, place=place, asked=times)


def plan_question(draft: Draft) -> Request:
    """Return the question whether a plan may begin (mode `plan`)."""
    todos = sorted((draft.get(t) for t in draft), key=lambda t: t.rank)
    subject: Subject = {
        "session": draft.board.session,
        "query": draft.board.query[:2000],
        "revision": draft.control.revision,
        "steps": [
            {
                "todo": t.id,
                "team": t.agent_name,
                "task": t.description,
                "arguments": dict(t.arguments),
                "dependencies": list(t.dependencies),
                "risk": t.risk.value,
            }
            for t in todos
        ],
    }
    notes = dict.fromkeys(note for t in todos for note in (*t.metadata.get("notes", ()), *_unread(t)))
    about: About = {"title": "plan", "revision": draft.control.revised, "count": len(todos), "notes": list(notes)}
    about["steps"] = {t.id: {"title": t.name} for t in todos}
    risk = _unasked_risk(draft, todos)
    about["max_revisions"] = draft.control.review.max_revisions
    if draft.control.difference:
        about["difference"] = draft.control.difference
    return _session_request(draft, Kind.PLAN, subject, about, risk, asked=draft.control.plan_asked)


def plan_ruling(draft: Draft) -> Judgement:
    """Return what the rules say of the plan as it is."""
    return _ruling(draft, Kind.PLAN, _unasked_risk(draft, (draft.get(todo_id) for todo_id in draft)))


def _ruling(draft: Draft, kind: Kind, risk: Risk) -> Judgement:
    return draft.rules.policy.judge_facts(Facts(Of(kind.value), risk=risk), draft.control.mode)


def _unasked_risk(draft: Draft, todos: Iterable[SupervisorTodo]) -> Risk:
    """Return the highest risk among steps that run without a question of their own."""
    allowed = (t.risk for t in todos if judge(draft, t).ruling is Ruling.ALLOW)
    return max(allowed, key=list(Risk).index, default=Risk.LOW)


def proposal_now(draft: Draft, proposal: ProposalState) -> ProposalState:
    """Return a proposal with the ids that its steps would get in the plan as it is now."""
    try:
        added = [str(c["todo"]["id"]) for c in proposal["changes"] if c["kind"] == Change.ADD.value]
        if all(todo_id not in draft and int(todo_id[5:]) > draft.control.highest for todo_id in added):
            return proposal
        fresh = dict(zip(added, next_ids([*draft, f"todo_{draft.control.highest}"], len(added)), strict=True))
        changes: list[ProposedChange] = [{**c} for c in proposal["changes"]]
        for change in changes:
            if change["kind"] == Change.ADD.value:
                todo = cast("Mapping[str, Any]", change["todo"])
                dependencies = [fresh.get(d, d) for d in todo.get("dependencies", ())]
                change["todo"] = {**todo, "id": fresh[str(todo["id"])], "dependencies": dependencies}
            elif change["kind"] == Change.AFTER.value:
                change["after"] = [fresh.get(d, d) for d in change["after"]]
                change["anchor"] = fresh.get(change.get("anchor", ""), change.get("anchor", ""))
    except (LookupError, TypeError, ValueError, AttributeError):  # accepting it will say what is wrong
        return proposal
    return cast(ProposalState, {**proposal, "changes": changes})


def proposal_question(draft: Draft, proposal: ProposalState) -> Request:
    """Return the question whether the plan shall change as proposed."""
    proposal = proposal_now(draft, proposal)
    subject: Subject = {"session": draft.board.session, "proposal": proposal}
    about: About = {
        "title": "proposal",
        "proposal_id": proposal.get("id", ""),
        "reason": proposal.get("reason", ""),
        "origin": proposal.get("origin", ""),
        "text": proposal.get("text", ""),
    }
    try:
        about["plan"], about["then"] = plan_now(draft), plan_then(draft, proposal["changes"])
        added = [SupervisorTodo.from_dict(c["todo"]) for c in proposal["changes"] if c["kind"] == Change.ADD.value]
        edits = [(draft.get(c["todo_id"]), c) for c in proposal["changes"] if c["kind"] == Change.EDIT.value]
        edited = [replace(todo, arguments=dict(c["arguments"]), risk=Risk(c["risk"])) for todo, c in edits]
        risk = _unasked_risk(draft, [*added, *edited])
        about["steps"] = {
            **{todo.id: {"title": todo.name} for todo in added},
            **{todo.id: {"title": todo.name, "before": given_values(todo.arguments)} for todo, _ in edits},
        }
    except (HitlError, LookupError, TypeError, ValueError, AttributeError):  # accepting it will say what is wrong
        risk = Risk.HIGH
    return _session_request(draft, Kind.PROPOSAL, subject, about, risk)


def _session_request(
    draft: Draft, kind: Kind, subject: Subject, about: About, risk: Risk, *, asked: int = 0
) -> Request:
    policy, terms = draft.rules.policy, Terms()
    if any(rule.request for rule in policy.all_rules):
        terms = _ruling(draft, kind, risk).terms
        subject["policy"] = policy.version  # under other rules it is another question
    if kind is Kind.PLAN:
        terms = draft.control.review.terms(terms)
    seen = digest(subject)
    return Request(
        id=request_id(draft.board.session, draft.control.branch, "", asked, [kind.value], seen, draft.control.lineage),
        session=draft.board.session,
        branch=draft.control.branch,
        kind=kind,
        todo_id="",
        source="planner",
        subject=subject,
        digest=seen,
        terms=terms,
        options=OPTIONS[kind],
        about=about,
        risk=risk.value,
    )
