"""What a notification says: plain text, in which nothing that somebody else wrote mentions anybody or is a link."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from hitl_tui.core.given_values import given_values, is_held
from hitl_tui.core.interrupts.shape import ShapeKind, json_words
from hitl_tui.core.names import clip, step_name
from hitl_tui.core.requests import Kind, Outcome, Resolution, Verdict, name_of
from hitl_tui.core.safe_text import safe_again
from hitl_tui.language import _, ngettext
from hitl_tui.ledger.records import RequestView
from hitl_tui.notifications.moments import Moment, Text, Told
from hitl_tui.supervisor.snapshot import listed
from hitl_tui.wording.inbox_rows import asked_text, option_lines
from hitl_tui.wording.interrupt_rows import CALLS, detail_rows
from hitl_tui.wording.policy_rows import takes_words
from hitl_tui.wording.status_words import RISK_WORDS
from hitl_tui.wording.times import zoned_words

_LONGEST, _LONGEST_VALUE, _LONGEST_TITLE, _LISTED = 400, 200, 60, 10
_OF_TEXT = "│"
"""Begins further lines of somebody's text."""
_JOIN = "\N{ZERO WIDTH SPACE}"
_TAMED = str.maketrans({"<": "‹", ">": "›", "&": "＆", "`": "'", "*": "∗", "[": "(", "]": ")", "|": "¦", "~": "∼"})


def tame(text: str, limit: int = _LONGEST) -> str:
    """Return somebody's text in one line, so that no service makes a mention, a link or markup of it.

    It may have been made safe before.
    """
    line = clip(safe_again(text, multiline=False), limit).translate(_TAMED)
    return line.replace("@", f"@{_JOIN}").replace("://", f":{_JOIN}//").replace("www.", f"www{_JOIN}.")


def _tame_lines(text: str) -> list[str]:
    """Return somebody's text in its lines; those after the first can't be taken for lines of ours."""
    first, *more = clip(text.strip(), _LONGEST).split("\n")
    return [tame(first), *(f"{_OF_TEXT} {tame(line)}" for line in more)]


def notification_text(told: Sequence[Told], arguments: bool = False) -> Text:
    """Return what is told at once.

    Args:
        told: one thing, or several that are only named.
        arguments: say what a call would run with.
    """
    if len(told) == 1:
        return Text(_title(told[0]), "\n".join(_lines(told[0], arguments)))
    title = ngettext("{n} notification", "{n} notifications", len(told)).format(n=len(told))
    lines = [_title(one) for one in told[:_LISTED]]
    if len(told) > _LISTED:
        lines.append(_("… and {n} more").format(n=len(told) - _LISTED))
    return Text(title, "\n".join([*lines, _how()]))


def _name(told: Told) -> str:
    """Return what a request is called: a step of a session by its number, one of a task by the task's name, too."""
    request = told.request
    if request.kind is Kind.EXTERNAL:
        return tame(f"{request.session}.{request.subject.get('step')}", 120)
    if not request.todo_id:
        return _(request.kind.value)
    return _("step {number}").format(number=tame(step_name(name_of(request)), 120))


def _title(told: Told) -> str:
    """Return what is told in a line, and of which job: the session as it is called, or the task's folder."""
    origin = told.origin
    job = tame(origin.title or PurePath(origin.folder).name, _LONGEST_TITLE)
    return " · ".join(filter(None, (_what(told), job)))


def _what(told: Told) -> str:
    name, risk = _name(told), _(RISK_WORDS[told.request.risk_class.value])
    if told.moment is Moment.OPENED:
        return _("Approval wanted: {name} · {risk}").format(name=name, risk=risk)
    if told.moment is Moment.HALF_TIME:
        time = zoned_words(told.request.expires_at)
        return _("Still waiting: {name} · expires {time}").format(name=name, time=time)
    if told.outcome is Outcome.EXPIRED:
        return _("Expired: {name}").format(name=name)
    by = tame(", ".join(dict.fromkeys(one.by for one in told.decisions)), 120)
    if told.outcome is Outcome.REJECTED:
        return _("Rejected: {name} · by {by}").format(name=name, by=by)
    return _("Approved: {name} · by {by}").format(name=name, by=by)


def _lines(told: Told, arguments: bool) -> list[str]:
    request = told.request
    view = RequestView(request, tuple(told.decisions), Resolution(told.outcome), {})
    lines = [*_tame_lines(asked_text(view)), *(tame(line) for line in option_lines(view)[:_LISTED])]
    if action := request.subject.get("action") if request.kind is Kind.EXTERNAL else "":
        lines.append(_("action: {action}").format(action=tame(str(action))))
    if request.kind is not Kind.EXTERNAL:
        called = " · ".join(filter(None, (request.session, told.origin.title)))
        lines.append(_("session: {session}").format(session=tame(called, _LONGEST_VALUE)))
    if told.origin.folder:
        folder, machine = tame(told.origin.folder, _LONGEST_VALUE), tame(told.origin.machine, 120)
        lines.append(_("folder: {folder} on {machine}").format(folder=folder, machine=machine))
    if asker := request.requester or (request.source if request.todo_id else ""):
        lines.append(_("asked by: {name}").format(name=tame(asker, 120)))
    if takes := takes_words(request.terms):
        given = sum(one.verdict is Verdict.APPROVE for one in told.decisions)
        so_far = _("{n} of {quorum} approvals").format(n=given, quorum=request.terms.quorum) if given else ""
        lines.append(_("takes: {terms}").format(terms=" · ".join(filter(None, (takes, so_far)))))
    if arguments:
        lines += [f"{tame(name, 80)}: {tame(value, _LONGEST_VALUE)}" for name, value in _runs_with(view)]
    lines.append(_("request: {id}").format(id=tame(request.id, 120)))
    if told.moment is Moment.DECIDED:
        said = [one.reason for one in told.decisions if one.reason]
        return [*lines, *(_("reason: {reason}").format(reason=tame(reason)) for reason in said)]
    if request.expires_at:
        lines.append(_("expires: {time}").format(time=zoned_words(request.expires_at)))
    return [*lines, _how()]


def _runs_with(view: RequestView) -> Iterator[tuple[str, str]]:
    """Yield what an agent's call, a step or a graph's tool would run with: names, and values as people give them."""
    shape, arguments = listed(view).shape, view.request.subject.get("arguments") or {}
    if shape is not None:
        called = shape.kind in (*CALLS, ShapeKind.ACTION)
        yield from ((row.label, row.text.plain) for row in detail_rows(shape) if row.label and called)
        return
    if isinstance(argv := arguments.get("argv"), list):
        yield _("runs"), shlex.join(map(str, argv))
    given = given_values(arguments) if is_held(arguments) else {k: v for k, v in arguments.items() if k != "programs"}
    for name, value in given.items():
        yield str(name), value if isinstance(value, str) else json_words(value)


def _how() -> str:
    return _("To decide: hitl-tui inbox")
