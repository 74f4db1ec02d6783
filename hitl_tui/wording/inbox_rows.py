"""What an inbox says of each thing that waits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from hitl_tui.core.events import utc_now
from hitl_tui.core.interrupts.recognition import title_of
from hitl_tui.core.policy import Risk
from hitl_tui.core.requests import Kind
from hitl_tui.core.safe_text import SafeText, safe_text, unsafe_text
from hitl_tui.language import _, translate
from hitl_tui.ledger.records import RequestView
from hitl_tui.task_checkpoints.checkpoint import Checkpoint, Status, unawaited
from hitl_tui.wording.rows import Row, in_line, labelled
from hitl_tui.wording.status_words import RISK_WORDS
from hitl_tui.wording.subject_rows import state_changes, value_text
from hitl_tui.wording.times import duration_words, left_words, moment


def asked_words(view: RequestView) -> SafeText:
    """Return what a request asks in one safe line: of which step, what, and about what."""
    return safe_text(_asked(view, ("message", "action", "agent")), multiline=False)


def asked_text(view: RequestView) -> SafeText:
    """Return what a request asks, safe, with the line breaks of whoever asks; of an agent's step its message alone."""
    return safe_text(_asked(view, ("message",)))


def _asked(view: RequestView, of_step: Sequence[str]) -> str:
    """Return what a request asks, as it came; of an agent's step these texts."""
    from hitl_tui.supervisor.snapshot import listed
    from hitl_tui.wording.interrupt_rows import asked
    from hitl_tui.wording.question_rows import asks_words

    request, question = view.request, listed(view)
    about = title_of(request)
    if question.shape is not None:
        about = unsafe_text(asked(question.shape))  # what is asked from inside was made safe already
    elif request.kind is Kind.PLAN:
        about = str(request.subject.get("query", ""))
    elif request.kind is Kind.PROPOSAL:
        about = str(request.about.get("text") or translate(request.about.get("reason", "")))
    elif request.kind is Kind.EXTERNAL:
        said = (request.subject.get(key, "") for key in of_step)
        about = " · ".join(str(text) for text in said if text)
    elif changed := state_changes(request.subject):
        about = f"{about} · {', '.join(changed)}"
    return f"{asks_words(question)} {about}"


def option_lines(view: RequestView) -> list[str]:
    """Return the options of a question that gives a choice, a safe line each, with the number that answers it."""
    from hitl_tui.supervisor.snapshot import Question

    shape = Question(view).shape
    options = shape.options if shape is not None else ()
    return [f"{number}  {translate(option.text)}" for number, option in enumerate(options, start=1)]


def risk_shown(view: RequestView) -> Risk:
    """Return the highest risk that a question names: of what approving it lets run, or of a step it would add."""
    subject = view.request.subject
    changes = subject["proposal"].get("changes", ()) if "proposal" in subject else ()
    steps: list[Mapping[str, Any]] = [*subject.get("steps", ()), *(change.get("todo") or change for change in changes)]
    order = list(Risk)
    named = [Risk(step["risk"]) for step in steps if step.get("risk") in order]
    return max(view.request.risk_class, *named, key=order.index) if named else view.request.risk_class


def step_rows(step: Checkpoint, folder: str, nobody: str = "") -> list[Row]:
    """Return a step of an agent's task: what would run, what the agent says, who asks, and what it takes.

    Args:
        step: the step.
        folder: where its task is.
        nobody: why nobody can approve it; empty where somebody can.
    """
    rows = [labelled(_("action"), safe_text(step.action), exact=True), *call_rows(step)]
    said = ((_("the agent says"), step.message), (_("agent"), step.agent), (_("folder"), folder))
    rows += [labelled(label, safe_text(text), exact=True) for label, text in said]
    view = step.view
    if view is None:
        return rows
    terms = view.request.terms
    if terms.quorum > 1 or terms.level:
        takes = _("{quorum} approvers of level {level} or higher").format(quorum=terms.quorum, level=terms.level)
        rows.append(labelled(_("takes"), "\n".join(filter(None, (takes, translate(nobody))))))
    rows += [labelled(d.said, safe_text(" · ".join(filter(None, (d.by, d.reason))))) for d in view.decisions]
    if step.value is not None:
        rows.append(labelled(_("value"), value_text(step.value), exact=True))
    rows.append(labelled(_("risk"), _(RISK_WORDS[view.request.risk_class.value])))
    rows.append(labelled(_("waits"), waits_words(view)))
    return rows


def late_words(view: RequestView, now: str = "") -> SafeText:
    """Return what a person should know of a call that nobody waits for any more; empty where somebody may."""
    said = unawaited(view, now or utc_now())
    return safe_text(translate(said) if said is not None else "", multiline=False)


def call_rows(step: Checkpoint, now: str = "") -> list[Row]:
    """Return what a call would run with, argument by argument, and where; nothing for what is no call.

    Args:
        step: of a task.
        now: ISO 8601, UTC; empty for the time it is.
    """
    if step.call is None:
        return []
    rows = [labelled(in_line(name), value_text(v), exact=True) for name, v in (step.arguments or {}).items()]
    if step.edited is not None:
        rows.append(labelled(_("asked for"), value_text(dict(step.call.arguments)), exact=True))
    if step.call.folder:
        rows.append(labelled(_("runs in"), safe_text(step.call.folder), exact=True))
    if step.view is not None and step.status is Status.INTERRUPTED and (late := late_words(step.view, now)):
        rows.append(labelled(_("NOTE"), late, "bold $text-warning"))
    return rows


def votes_words(view: RequestView) -> str:
    """Return how many of the people who are needed have approved; empty where one is enough."""
    terms, given = view.request.terms, len(view.resolution.decisions)
    if terms.quorum <= 1 and not terms.level:
        return ""
    said = _("{n} of {quorum} approvals")
    if terms.level:
        said = _("{n} of {quorum} approvals of level {level} or higher")
    return said.format(n=given, quorum=max(1, terms.quorum), level=terms.level)


def waits_words(view: RequestView, now: datetime | None = None) -> str:
    """Return how much time is left, or for how long it waits already."""
    now = now or datetime.now(UTC)
    return left_words(view.request.expires_at, now) or _age(view.request.opened_at, now)


def _age(opened: str, now: datetime) -> str:
    begun = moment(opened)
    if begun is None:
        return ""
    seconds = max(0, int((now - begun).total_seconds()))
    return _("for {time}").format(time=duration_words(seconds) if seconds >= 60 else f"0:{seconds:02d}")
