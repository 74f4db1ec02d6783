"""States in words and glyphs: nothing is told by colour alone. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from hitl_tui.core.names import person, plain_name, typed_command
from hitl_tui.core.policy import Risk
from hitl_tui.core.safe_text import one_line, safe_text
from hitl_tui.core.tally import (
    DONE,
    EXPIRED,
    FAILED,
    NOT_RUN,
    NOTHING_FOUND,
    REJECTED,
    REST,
    SKIPPED,
    all_done,
    tally_message,
)
from hitl_tui.core.todos import Priority, Status, SupervisorTodo
from hitl_tui.language import mark, safe_message, translate
from hitl_tui.terminal.ascii_signs import _, ngettext, signs
from hitl_tui.threads.thread_model import Waiting
from hitl_tui.wording.rows import in_line, joined
from hitl_tui.wording.times import clock_words, duration_words, moment

if TYPE_CHECKING:
    from hitl_tui.config.declared_graphs import Attachment
    from hitl_tui.core.requests import Request
    from hitl_tui.supervisor.snapshot import Snapshot
    from hitl_tui.threads.session_history import CheckpointInfo

_STATUS: Mapping[Status, tuple[str, str, str]] = {
    Status.PENDING: ("·", mark("waits"), "$text-muted"),
    Status.IN_PROGRESS: ("▸", mark("runs"), "$text-primary"),
    Status.COMPLETED: ("✓", mark("done"), "$text-success"),
    Status.FAILED: ("✗", mark("failed"), "$text-error"),
    Status.SKIPPED: ("−", mark("skipped"), "$text-muted"),
    Status.BLOCKED: ("■", mark("blocked"), "$text-warning"),
    Status.WAITING_APPROVAL: ("?", mark("asks"), "$text-warning"),
}

_APPROVED = ("○", mark("approved"), "$text-primary")
_REJECTED = ("⊘", mark("rejected"), "$text-error")
_DECLINED = ("⊘", mark("declined"), "$text-warning")
_EXPIRED = ("◷", mark("expired"), "$text-error")

SIGNS: tuple[tuple[str, str], ...] = tuple(
    dict.fromkeys((glyph, word) for glyph, word, __ in (*_STATUS.values(), _APPROVED, _REJECTED, _DECLINED, _EXPIRED))
)
"""Glyph and word of each status, for who wants to know what they mean."""

PRIORITIES: Mapping[Priority, str] = {Priority.CRITICAL: "↑↑", Priority.HIGH: "↑", Priority.LOW: "↓"}
"""The sign of each priority; what is as usual, medium, has none."""

RISKY = "!"
"""The sign of a step of high risk; steps of other risk have none."""

KEPT_WORDS = frozenset(
    {
        *(mark("waiting"), mark("running"), mark("planning"), mark("finished"), mark("interrupted")),
        *(mark("unreadable"), mark("cancelled"), mark("edited"), mark("stopped"), mark("started"), mark("progress")),
    }
)
"""What sessions, activity and ends of questions are called where they are kept as text; `_` translates them."""

_CHANNELS = frozenset({mark("console"), mark("repl"), mark("cli"), mark("web"), mark("deadline"), mark("supervisor")})
"""Channels of ours, as they are kept; `_` translates them."""
_RISK: Mapping[str, str] = {
    "high": mark("RISKY: changes things outside this session"),
    "medium": mark("MEDIUM RISK"),
    "low": mark("low risk"),
}


def risk_words(risk: str) -> str:
    """Return a class of risk in words; what comes before a colon is enough where room is scarce."""
    return _(_RISK[risk]) if risk in _RISK else risk


def status_words(todo: SupervisorTodo) -> tuple[str, str, str]:
    """Return glyph, word and colour variable of a TODO's status."""
    glyph, word, colour = _status(todo)
    return signs(glyph), _(word), colour


def _status(todo: SupervisorTodo) -> tuple[str, str, str]:
    if todo.status is Status.PENDING and todo.approval is not None:
        return _APPROVED
    if todo.status is Status.FAILED and todo.metadata.get("rejected"):
        return _EXPIRED if todo.error.partition(":")[0] == "expired" else _REJECTED
    if todo.status is Status.COMPLETED and todo.metadata.get("declined"):
        return _DECLINED
    if todo.status is Status.FAILED and todo.question:
        return "?", *_STATUS[Status.FAILED][1:]
    return _STATUS[todo.status]


_PLACES = (
    *(mark("REASON"), mark("FEEDBACK"), mark("TEXT"), mark("NAME")),
    *(mark("VALUE"), mark("OPTION"), mark("DECISION"), mark("NUMBERS")),
)
_OWN_WORDS = re.compile(rf"\b(?:{'|'.join(_PLACES)})\b")
_LONGEST_ID = 60
_BAR = 10
"""Cells of a bar that shows how far something is."""
_FORK = re.compile(r"(?P<title>.*) \(fork of (?P<of>[A-Za-z0-9._-]+)\)", re.DOTALL)


def begun_words(attached: Attachment) -> str:
    """Return why a session with a graph asks nobody whether it may begin."""
    if attached.waits:
        return _("Its thread stands at a question; nothing runs before that is answered.")
    return _("It runs: its input was given on the command line.")


@lru_cache(1 << 14)
def number_of(todo_id: str) -> str:
    """Return `003` for `todo_003`, and any other id as it is, in one safe line. A long plan names each many times."""
    return one_line(todo_id.removeprefix("todo_"), _LONGEST_ID)


def progress_bar(share: float) -> str:
    """Return a bar for a share from 0 to 1: `████░░░░░░`."""
    full = round(max(0.0, min(1.0, share)) * _BAR)
    return "█" * full + "░" * (_BAR - full)


@dataclass(frozen=True, slots=True)
class PlanRow:
    """One line of the plan, safe to show."""

    todo_id: str
    glyph: str
    word: str
    colour: str
    number: str
    team: str
    title: str
    time: str
    needs: str
    attempts: str = ""
    fixed: str = ""
    """Why it can't have another place in the order; empty where it can."""
    priority: str = ""
    """Sign of its priority; empty for medium."""
    level: str = ""
    """Its priority in words, `high priority`; empty for medium."""
    risk: str = ""
    """Sign of its risk; empty where that isn't high."""


_NAMED = 5
"""Steps that are named one by one."""


def stop_words(snapshot: Snapshot) -> str:
    """Return what `/stop` would end, for the dialog that asks; empty where nothing runs or waits to run."""
    running, left = snapshot.running, snapshot.unstarted
    steps = ", ".join([*map(number_of, running[:_NAMED]), *(["…"] if len(running) > _NAMED else ())])
    stopped = ngettext("Stops {n} step that runs: {steps}.", "Stops {n} steps that run: {steps}.", len(running))
    skipped = ngettext("Skips {n} step that hasn't run.", "Skips {n} steps that haven't run.", left)
    said = [
        *([stopped.format(n=f"{len(running):,}", steps=steps)] if running else ()),
        *([skipped.format(n=f"{left:,}")] if left else ()),
    ]
    return "\n".join([*said, _("What is done stays done.")]) if said else ""


def plan_rows(snapshot: Snapshot, now: datetime) -> list[PlanRow]:
    """Return the plan as lines, in order."""
    return [plan_row(todo, now) for todo in snapshot.todos]


def running_rows(snapshot: Snapshot, now: datetime) -> list[PlanRow]:
    """Return the lines of what runs: the only ones that change while nothing happens."""
    return [plan_row(SupervisorTodo.from_state(snapshot.raw[i]), now) for i in snapshot.running]


class PlanLines:
    """The plan as lines, like `plan_rows`, over and over: the line of a TODO that is as it was isn't made again.

    A plan of ten thousand would otherwise hold keys up for a tenth of a second whenever anything happens.
    """

    def __init__(self) -> None:
        self._made: dict[str, tuple[Mapping[str, object], float, PlanRow]] = {}

    def rows(self, snapshot: Snapshot, now: datetime) -> list[PlanRow]:
        """Return the plan as lines, in order."""
        running = frozenset(snapshot.running)
        before, self._made = self._made, {}
        for todo_id, raw in snapshot.raw.items():
            made = before.get(todo_id)
            if made is None or todo_id in running or made[0] != raw:
                todo = SupervisorTodo.from_state(raw)
                made = raw, todo.rank, plan_row(todo, now)
            self._made[todo_id] = made
        in_order = sorted(self._made.values(), key=lambda made: made[1])
        return [made[2] for made in in_order]


def plan_row(todo: SupervisorTodo, now: datetime) -> PlanRow:
    """Return a TODO as a line of the plan."""
    glyph, word, colour = status_words(todo)
    started = moment(todo.started_at) if todo.status is Status.IN_PROGRESS else None
    seconds = max(0.0, (now - started).total_seconds() - todo.waited - todo.idle) if started else todo.duration
    needs = " ".join(number_of(d) for d in todo.dependencies)
    return PlanRow(
        todo_id=todo.id,
        glyph=glyph,
        word=word,
        colour=colour,
        number=number_of(todo.id),
        team=safe_text(todo.agent_name.removesuffix("_team"), multiline=False, limit=24),
        title=safe_text(todo.name, multiline=False, limit=400),
        time=duration_words(seconds),
        needs=signs("← ") + needs if needs else "",
        attempts=signs("×") + str(todo.attempt) if todo.attempt > 1 else "",
        fixed=why_fixed(todo),
        priority=signs(PRIORITIES.get(todo.priority, "")),
        level=_("{level} priority").format(level=_(todo.priority.value)) if todo.priority in PRIORITIES else "",
        risk=RISKY if todo.risk is Risk.HIGH else "",
    )


def cut_off_row(row: PlanRow, todo: SupervisorTodo) -> PlanRow:
    """Return the line of a TODO whose process is gone: what it began with is known, and no time goes by."""
    began = _("began {time}").format(time=clock_words(todo.started_at)) if todo.started_at else ""
    return replace(row, glyph="!", word=_("cut off"), colour="$text-warning", time=began)


def ran_words(todo: SupervisorTodo) -> str:
    """Return how long a TODO ran, and how long of that it waited for a person; empty before it ended."""
    waited = _("waited {time} for a person").format(time=duration_words(todo.waited)) if todo.waited else ""
    return joined(duration_words(todo.duration), waited)


def who_words(by: str, channel: str, *, imported: bool = False) -> str:
    """Return who did something, and where: `ops (console)`; `ops (console, imported)` where only an import says so."""
    where = (_(channel) if channel in _CHANNELS else channel) if channel and channel != by else ""
    beside = ", ".join(filter(None, (where, _("imported") if imported else "")))
    return in_line(plain_name(by) + (f" ({beside})" if beside else ""))


def of_import(todo: SupervisorTodo, said: str) -> str:
    """Return what is said of how a TODO ended without running; where only an import tells of it, with that."""
    return f"{said} ({_('imported')})" if todo.metadata.get("imported") else said


def approval_words(approval: Mapping[str, object], time: Callable[[str], str] = clock_words) -> str:
    """Return who approved a TODO, where and when; or what let it run without a question.

    Args:
        approval: as its state keeps it.
        time: says when, from an ISO 8601 time.
    """
    by, channel = str(approval.get("by", "")), str(approval.get("channel", ""))
    imported = bool(approval.get("imported"))
    if channel == "policy":
        mode = by.removeprefix("mode ")
        said = _("by mode {rule}, nobody was asked") if mode != by else _("by policy rule {rule}, nobody was asked")
        words = said.format(rule=in_line(mode.removeprefix("policy rule ")))
        return f"{words} ({_('imported')})" if imported else words
    who = who_words(by, channel, imported=imported)
    return joined(_("by {who}").format(who=who), time(str(approval.get("at", ""))))


def command_words(command: str) -> str:
    """Return a command as a person types it: steps by number, what they put in (REASON) in their language."""
    return _OWN_WORDS.sub(lambda found: _(found[0]), typed_command(command))


def undo_command(todo_id: str) -> str:
    """Return the command that takes the skip or the rejection of a step back."""
    return f"/todo update {number_of(todo_id)} pending"


def why_fixed(todo: SupervisorTodo) -> str:
    """Return why a TODO can't have another place in the order, as the command says it; empty where it can."""
    return safe_message(todo.why_fixed, multiline=False)


def history_said(info: CheckpointInfo) -> str:
    """Return what happened at a checkpoint, in words: who asked by number, the plan and proposals by what they are."""
    if info.outcome:
        return outcome_words(info.outcome)
    if info.waiting:
        waiting = Waiting.at(info)
        asked = info.message.partition("waiting: ")[2] if waiting is None else ""
        if asked:
            return _("asked {asked}").format(asked=asked).strip()
        return _("waited") if waiting is None else waiting_words(waiting, planned=info.node == "plan_review")
    if info.source == "fork":
        return _("restored")
    return ""


def outcome_words(outcome: str) -> str:
    """Return how a graph ended, or that its state was edited."""
    failed, colon, why = outcome.partition("failed: ")
    if colon and not failed:
        return _("failed: {why}").format(why=why)
    words = {"ended": _("ended"), "state edited": _("state edited")}
    return words.get(outcome) or _(outcome)


def waiting_words(waiting: Waiting, *, planned: bool = False) -> str:
    """Return what asks at a checkpoint of a session: `asked 001 002 and 3 more`; that it was planned where none does.

    Args:
        waiting: what asks.
        planned: the plan was made there.
    """
    asked = asked_forms(waiting.names, waiting.count - len(waiting.names))
    return asked[0] if asked else _("planned") if planned else ""


def asked_words(names: Sequence[str]) -> str:
    """Return that something asks: `asked 001 002`. Proposals have ids that say nothing, so they aren't named.

    Args:
        names: ids of TODOs, `plan`, ids of proposals.
    """
    todos = " ".join(number_of(name) for name in names if name.startswith("todo_"))
    plan = _("about the plan") if "plan" in names else ""
    proposed = any(name != "plan" and not name.startswith("todo_") for name in names)
    asked = ", ".join(filter(None, (todos, plan, _("about a proposal") if proposed else "")))
    return _("asked {asked}").format(asked=asked) if asked else ""


def asked_forms(names: Sequence[str], more: int) -> tuple[str, ...]:
    """Return that something asks in several forms, with ever fewer names: `asked 001 002 and 3 more`.

    Args:
        names: as for `asked_words`.
        more: how many ask besides, whose names aren't known.
    """
    found = []
    for kept in range(len(names), 0, -1):
        said, left = asked_words(names[:kept]), more + len(names) - kept
        found.append(_("{asked} and {n} more").format(asked=said, n=left) if left else said)
    if not found and more:
        found.append(ngettext("asked {n} more question", "asked {n} more questions", more).format(n=more))
    return tuple(found)


def asked_about(request: Request) -> str:
    """Return what a request is about in one line that isn't safe yet; empty for the plan.

    That is a declared command's name, a step's title, the question that a team asks from inside, or what a proposal
    would change.
    """
    from hitl_tui.core.interrupts.recognition import title_of
    from hitl_tui.core.requests import Kind

    if request.kind is Kind.PLAN:
        return ""
    if request.kind is Kind.PROPOSAL:
        return translate(request.about.get("reason") or request.about.get("text") or "")
    arguments = request.subject.get("arguments")
    command = arguments.get("command") if isinstance(arguments, Mapping) and request.kind is Kind.TODO else None
    title = command_title(title_of(request), str(command)) if command else title_of(request)
    return "" if title == "{}" else title


def command_title(title: str, command: str) -> str:
    """Return what a step is called that runs a declared command; earlier versions put `Run: ` before its name."""
    return command if not title or title.rpartition(": ")[2] == command else title


def fork_first(title: str) -> str:
    """Return a title with what it is a fork of before the rest, which is the same: `fork of s1 · A question`."""
    found = _FORK.fullmatch(title)
    return _("fork of {of} · {title}").format(**found.groupdict()) if found else title


def ending_words(snapshot: Snapshot, files: Sequence[str], *, there: bool = False) -> str:
    """Return what is said once a session has ended; the keys in it have to be named.

    Args:
        snapshot: the session.
        files: what was written since it ended before.
        there: what is pressed goes to the answer already.
    """
    counts = dict(snapshot.tally)
    there_is = _("Nothing found") if counts.pop(NOTHING_FOUND, 0) else _("Answer ready")
    ended = "" if all_done(counts) else translate(tally_message(counts))
    if not counts.get(DONE):
        instead = _("at the prompt, say what to do instead") if counts.get(REJECTED) else ""
        return joined(ended, instead, _("{session.pane} shows why"))
    written = _("written: {file}").format(file=in_line(files[0])) if files else ""
    written += _(" and {n:,} more").format(n=len(files) - 1) if len(files) > 1 else ""
    return joined(ended, there_is, written, "" if there else _("{session.pane} to scroll, copy or export"))


_WORST: Sequence[tuple[tuple[str, ...], str]] = (
    ((FAILED,), _STATUS[Status.FAILED][0]),
    ((REJECTED,), _REJECTED[0]),
    ((EXPIRED,), _EXPIRED[0]),
    ((NOT_RUN, REST), _STATUS[Status.BLOCKED][0]),
    ((SKIPPED,), _STATUS[Status.SKIPPED][0]),
)
"""Glyphs of what a session left undone, the worst first."""


def ended_words(counts: Mapping[str, int]) -> str:
    """Return how a session ended that left something undone, with the glyph of the worst: `⊘ 2 done, 1 rejected`.

    Args:
        counts: its tally (`core.tally`).
    """
    done = _STATUS[Status.COMPLETED][0]
    worst = next((glyph for names, glyph in _WORST if any(counts.get(name) for name in names)), done)
    return f"{signs(worst)} {translate(tally_message(counts))}"


def follower_words(snapshot: Snapshot) -> str:
    """Return who goes on with a session that this process only follows."""
    return translate(snapshot.carrier) if snapshot.carrier else _("followed: another process has it open")


def status_of_session(snapshot: Snapshot, by: str = "") -> str:
    """Return where a session stands, in words with a glyph.

    Args:
        snapshot: the session.
        by: who looks: what they have answered and others have to answer, too, doesn't need them; empty for all.
    """
    if snapshot.questions:
        own = [q for q in snapshot.questions if by and any(person(d.by) == person(by) for d in q.view.decisions)]
        n = len(snapshot.questions) - len(own)
        if n:
            return ngettext("● {n} needs you", "● {n} need you", n).format(n=n)
        needed = max(q.view.resolution.needed for q in own)
        said = ngettext("○ you answered; {n} more is needed", "○ you answered; {n} more are needed", needed)
        return said.format(n=needed)
    if snapshot.concluded and snapshot.raw and not all_done(snapshot.tally):
        return ended_words(snapshot.tally)
    words = {
        "finished": _("✓ finished"),
        "failed": _("✗ failed"),
        "running": _("▸ running"),
        "planning": _("▸ planning"),
    }
    return words.get(snapshot.status) or _(snapshot.status)


RISK_WORDS: Mapping[str, str] = {
    "high": mark("high risk"),
    "medium": mark("medium risk"),
    "low": mark("low risk"),
}
"""The riskiest first."""
