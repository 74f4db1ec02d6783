"""Types of JSON values, and of the JSON that checkpoints, events and requests hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, Required, TypeAlias, TypedDict

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""Any JSON value: what comes from outside is one until somebody looks."""

JsonObject: TypeAlias = Mapping[str, Json]
"""A JSON object, to be read."""

JsonSchema: TypeAlias = "Mapping[str, Any]"
"""A JSON Schema: the standard says what its parts are, and who reads one has checked it."""

Stored: TypeAlias = "Mapping[str, Any]"
"""A document that a `to_dict` wrote, of this or an earlier version; the `from_dict` beside it checks what it needs."""

GraphState: TypeAlias = "Mapping[str, Any]"
"""The values of a graph's state by channel; what they are only the graph knows."""

# TODOs ------------------------------------------------------------------------------------------------------------


class Approval(TypedDict, total=False):
    """Who let a TODO run, and what was seen."""

    by: str
    people: Sequence[Mapping[str, str]]
    at: str
    channel: str
    digest: str
    request_id: str
    ahead: bool
    imported: bool
    """It is on another record, and came with an import: whoever exported it may have chosen every word of it."""


class ResultReference(TypedDict, total=False):
    """A reference to the result of a TODO: its digest, and what lists show of it.

    `missed` says what came out otherwise than was expected, and is there where something was.
    """

    digest: str
    summary: str
    found: bool
    files: Sequence[str]
    missed: Sequence[str]


class InterruptAnswer(TypedDict, total=False):
    """What was answered to an interrupt, which request asked, and what the answer was called where it said so."""

    value: Json
    by: str
    request_id: str
    action: str


class Interrupt(TypedDict, total=False):
    """One question that a run asks from inside; its handler in `core/fold.py` says what its parts are."""

    id: Required[str]
    path: Sequence[str]
    index: int
    value: Json
    schema: JsonObject
    at: str
    again: Sequence[str]
    programs: Mapping[str, str]
    changed: Sequence[str]
    notes: Sequence[str]
    asked: int
    number: int
    order: Sequence[Sequence[str]]
    answer: InterruptAnswer


class DoubtfulEffect(TypedDict, total=False):
    """An effect that may have happened already, as far as what asks now knows.

    Args:
        key, name, subject: see `ledger.records.Effect`.
        why: why it is in doubt, in one sentence.
        done: it ran to its end, on a branch that was left or in another session.
        options: the verdicts that fit, if not all do.
        answers: what people had answered the graph before it.
        nodes: those of the graph that stood next when somebody looked again.
    """

    key: Required[str]
    name: str
    subject: Json
    why: str
    done: bool
    options: Sequence[str]
    answers: Sequence[Json]
    nodes: Sequence[str]


class TodoQuestion(TypedDict, total=False):
    """What is asked about a TODO when it isn't a plain approval; see `core.questions`."""

    kind: Required[str]
    wedged: bool
    effect: DoubtfulEffect
    programs: Mapping[str, str]
    interrupts: Sequence[Interrupt]


class StateChange(TypedDict, total=False):
    """What a change of a graph's state makes of a value in it.

    `name` says where it is, `before` and `after` what it was and becomes; one that isn't there has no key. `reduced`:
    the field's reducer made it of what was given.
    """

    name: str
    before: Json
    after: Json
    reduced: bool


class EarlierStep(TypedDict, total=False):
    """The step of its team's thread that a TODO goes on from; `values` is changed there first, `next` stands there.

    `changes`: what that makes of the state; `by`: who changed it.
    """

    thread: str
    checkpoint_id: str
    values: JsonObject
    next: Sequence[str]
    changes: Sequence[StateChange]
    by: str


class EffectResolution(TypedDict, total=False):
    """What was decided about an effect in doubt."""

    verdict: str
    request_id: str


class Breakpoints(TypedDict, total=False):
    """The nodes before and after which an attached graph stops."""

    before: Sequence[str]
    after: Sequence[str]


class RunBefore(TypedDict, total=False):
    """How a TODO stood on the branch that a restore left.

    Args:
        status, branch: of the newest branch on which it ran.
        subjects: how each thing stood that it ran there or on branches before, by `board.run_digest`; missing in
            records of earlier versions, which don't say what ran.
    """

    status: str
    branch: int
    subjects: Mapping[str, str]


class RuleNamed(TypedDict):
    """A rule of the policy: its number from 1, and what people call it; empty for nothing."""

    rule: int
    name: str


class TodoMetadata(TypedDict, total=False):
    """What is known of a TODO besides its fields.

    Args:
        agent, step, input_mapping, notes: from its step of the plan.
        remarks: what a person should know of the question that it was added for, a sentence each.
        added_by, manual, alone: who added it beside the plan, that a person did, and that it reads no results.
        feeds: TODOs that shall use its result, until it is added.
        follow_up_of: the TODO whose result led to it.
        needs_results: there is nothing to do where no step before it found anything.
        lacks: names of arguments that have to be filled in before it can be approved.
        unplaced: amounts that a person named and no argument took; it is asked about with them.
        conditions: what has to hold for it, as a person said it, and nothing checks; it is asked about with that.
        unread: parts of what a person said of it that nothing was made of.
        event: the event that added it.
        inputs: the TODOs whose results it gets, where it has no dependencies.
        held: an operator blocked it.
        skip_reason, skipped_by, rejected: how it ended without running.
        denied: the rule that refused it, by its number and name.
        declined: it ran to its end after a person rejected what it asked last.
        resolutions: what was decided about its effects in doubt, by their keys.
        rewind, stopped_on: where it goes on.
        changed: files it may execute that aren't what they were when it was asked about last.
        breaks: where its graph stops.
        threads: the threads that runs were on, where these aren't named as the runs are.
        entered: how often each node of its graph was entered.
        edited_by: who gave it another input than it was planned with.
        planned: the arguments it was planned with that were edited, those that are short.
        ran_before: how it stood before a restore.
        interrupts: the highest number that one of its interrupts ever had, on any branch.
        imported: how it ended without running is on another record, and came with an import.
    """

    agent: str
    step: str
    input_mapping: JsonObject
    notes: Sequence[str]
    remarks: Sequence[str]
    added_by: str
    manual: bool
    alone: bool
    feeds: Sequence[str]
    follow_up_of: str
    needs_results: bool
    lacks: Sequence[str]
    unplaced: Sequence[str]
    conditions: Sequence[str]
    unread: Sequence[str]
    event: str
    inputs: Sequence[str]
    held: bool
    skip_reason: str
    skipped_by: str
    rejected: bool
    imported: bool
    denied: RuleNamed
    declined: bool
    resolutions: Mapping[str, EffectResolution]
    rewind: EarlierStep
    stopped_on: str
    changed: Sequence[str]
    breaks: Breakpoints
    threads: Mapping[str, str]
    entered: Mapping[str, int]
    edited_by: str
    planned: JsonObject
    ran_before: RunBefore
    interrupts: int


class TodoState(TypedDict, total=False):
    """A TODO as a checkpoint keeps it: the fields that differ from their defaults."""

    id: Required[str]
    name: str
    description: str
    agent_name: str
    agent_purpose: str
    expected_output: str
    status: Required[str]
    priority: str
    dependencies: Sequence[str]
    created_at: str
    started_at: str
    completed_at: str
    duration: float
    waited: float
    waiting_since: str
    idle: float
    metadata: TodoMetadata
    error: str
    retry_count: int
    max_retries: int
    arguments: JsonObject
    risk: str
    rank: float
    optional: bool
    timeout: float
    attempt: int
    run_id: str
    approval: Approval
    result: ResultReference
    question: TodoQuestion
    asked: int
    missing: Sequence[str]


# Plans and sessions -----------------------------------------------------------------------------------------------


class ProposedChange(TypedDict, total=False):
    """One change that a proposal would make; `kind` is a `core.plan.Change`."""

    kind: Required[str]
    todo: Mapping[str, object]
    todo_id: str
    priority: str
    reason: str
    arguments: JsonObject
    risk: str
    after: Sequence[str]
    where: str
    anchor: str


class ProposalState(TypedDict, total=False):
    """A proposal as `core.plan.Proposal` writes it."""

    id: Required[str]
    reason: str
    origin: str
    changes: Required[Sequence[ProposedChange]]
    text: str


class Refusal(TypedDict):
    """An event that could not take effect, and why."""

    event: str
    kind: str
    message: str
    reason: str


class EventData(TypedDict, total=False):
    """What an event says. Anybody may have written it: `core.fold` refuses what isn't of these types.

    The handler of each kind in `core/fold.py` and beside it says what that needs.
    """

    todo_id: str
    run_id: str
    since: str
    request_id: str
    asked: str
    verdict: str
    outcome: str
    by: str
    people: Sequence[Mapping[str, str]]
    at: str
    channel: str
    digest: str
    reason: str
    value: Json
    action: str
    spares: bool
    result: ResultReference
    proposal: ProposalState
    unasked: bool
    entered: Mapping[str, int]
    thread: str
    error: str
    final: bool
    wedged: bool
    interrupts: Sequence[Interrupt]
    delivered: Sequence[str]
    effect: DoubtfulEffect
    programs: Mapping[str, str]
    changed: Sequence[str]
    todo: Mapping[str, object]
    status: str
    priority: str
    where: str
    anchor: str
    arguments: JsonObject
    risk: str
    description: str
    checkpoint_id: str
    values: JsonObject
    changes: Sequence[StateChange]
    next: Sequence[str]
    before: Sequence[str]
    after: Sequence[str]
    mode: str
    policy_version: str
    concurrency: int
    risks: Mapping[str, str]
    branch: int
    ran: Mapping[str, RunBefore]
    highest: int
    numbers: Mapping[str, int]
    closed: Mapping[str, str]
    why: str
    was: str
    edits: Sequence[Sequence[str]]
    also: Sequence[EventData]


# Requests ---------------------------------------------------------------------------------------------------------


class PlannedStep(TypedDict):
    """One TODO in the subject of a question about the plan."""

    todo: str
    team: str
    task: str
    arguments: JsonObject
    dependencies: Sequence[str]
    risk: str


class Subject(TypedDict, total=False):
    """Exactly what a request would let run; its digest is what a decision is bound to."""

    session: str
    todo: str
    asked: int
    team: str
    task: str
    arguments: JsonObject
    inputs: Mapping[str, str | None]
    missing: Sequence[str]
    timeout: float
    policy: str
    from_step: EarlierStep
    run: str
    error: str
    effect: DoubtfulEffect
    programs: Mapping[str, str]
    path: Sequence[str]
    index: int
    value: Json
    schema: JsonObject
    at: str
    query: str
    revision: int
    steps: Sequence[PlannedStep]
    proposal: ProposalState
    step: int
    action: str
    agent: str
    message: str
    folder: str


class DependencyStatus(TypedDict):
    """A TODO that another one depends on, and its status."""

    id: str
    status: str


class EarlierResult(TypedDict):
    """What a step before found, in a line; `found` is False where it found nothing, `missed` True where it is expected
    to be otherwise.
    """

    id: str
    summary: str
    found: bool
    missed: NotRequired[bool]


class StepShown(TypedDict, total=False):
    """What is shown of a step of a plan, or of one that a proposal adds, besides what is approved.

    Args:
        title: what it is called.
        settings: arguments that are as its team puts them.
        before: what a proposal changes of it, as it is: what people give of its input, see `given_values`.
    """

    title: str
    settings: Sequence[str]
    before: JsonObject


class StepNamed(TypedDict):
    """A step of the plan, and what it is called."""

    id: str
    title: str


class PlanReviewed(TypedDict, total=False):
    """How the review of a plan ended.

    Args:
        ended_by: a `core.plan_review.EndedBy`.
        verdict: `approve` or `reject`.
        by: who, as people are shown it; `deadline`, `limit`, or the rule.
        people: who, as they were identified.
        channel: `console`, `cli`, `deadline`, `limit`, `policy`, …
        at: ISO 8601, UTC; empty where nobody said it.
        request_id: the question that was decided; empty where none was asked.
        revisions: how often the plan was revised.
        max_revisions: how often it could have been.
        imported: it is on another record, and came with an import.
    """

    ended_by: str
    verdict: str
    by: str
    people: Sequence[Mapping[str, str]]
    channel: str
    at: str
    request_id: str
    revisions: int
    max_revisions: int
    imported: bool


class StepMoved(StepNamed):
    """A step that stands somewhere else, or waits for others than before: `after` has the ids of those."""

    after: Sequence[str]


class PlanDifference(TypedDict, total=False):
    """How a revised plan differs from the one before; steps that stay have the ids that they had.

    Args:
        remark: what was said of the plan before.
        added, removed, moved, changed: steps, in order; of `changed` ones another input, text or priority.
        kept: how many steps of the plan before are left.
        more: how many steps aren't listed.
        notes: what of the remark wasn't worked in, a sentence each.
    """

    remark: str
    added: Sequence[StepNamed]
    removed: Sequence[StepNamed]
    moved: Sequence[StepMoved]
    changed: Sequence[StepNamed]
    kept: int
    more: int
    notes: Sequence[str]


class DeniedAnswer(TypedDict):
    """What a rule denies of what a team asks from inside.

    Args:
        call: which of the calls, from 1; 0 where the question as a whole lets it run.
        tool: whose call it is.
        rule, name: the rule, by its number and name.
        always: whatever the arguments.
    """

    call: int
    tool: str
    rule: int
    name: str
    always: bool


class About(TypedDict, total=False):
    """What else is shown of a request."""

    title: str
    task: str
    agent: str
    purpose: str
    expected_output: str
    priority: str
    risk: str
    risk_reason: str
    declared: str
    asks_first: bool
    nothing_yet: bool
    dependencies: Sequence[DependencyStatus]
    missing: Sequence[str]
    notes: list[str]
    optional: bool
    ran_before: RunBefore
    changed: Sequence[str]
    ahead: bool
    rule: int
    rule_name: str
    again: Sequence[str]
    denied: Sequence[DeniedAnswer]
    error: str
    attempts: int
    wedged: bool
    why: str
    effect: DoubtfulEffect
    value: Json
    number: int
    entered: Mapping[str, int]
    revision: int
    max_revisions: int
    difference: PlanDifference
    count: int
    proposal_id: str
    reason: str
    origin: str
    text: str
    says: str
    results: Sequence[EarlierResult]
    order: Sequence[Sequence[str]]
    settings: Sequence[str]
    previewed: bool
    steps: Mapping[str, StepShown]
    plan: Sequence[StepNamed]
    then: Sequence[StepNamed]
