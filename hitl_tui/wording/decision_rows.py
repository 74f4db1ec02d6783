"""Who decided what, when, by which channel and why, a line each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hitl_tui.core.fold_operator_events import DEFAULT_SKIP_REASON
from hitl_tui.core.requests import Kind
from hitl_tui.core.safe_text import one_line
from hitl_tui.language import mark, safe_message
from hitl_tui.ledger.approval_log import ALLOWED, DENIED, EDITED, REOPENED, RESTORED
from hitl_tui.terminal.ascii_signs import _
from hitl_tui.wording.history_rows import copied_words, deed, expired_words, given_deed
from hitl_tui.wording.rows import in_line, joined
from hitl_tui.wording.status_words import number_of, who_words
from hitl_tui.wording.times import second_words

_LONGEST = 4_000
"""Cells of what something was about, and of what was answered: a command that was allowed to run is read whole."""
_KINDS = {
    Kind.FAILURE: mark("after it failed"),
    Kind.EFFECT: mark("perhaps done already"),
    Kind.INTERRUPT: mark("asked by its team"),
}


def decision_cells(decision: Mapping[str, Any]) -> tuple[str, ...]:
    """Return when, by whom, what and about what with the reason; each is safe.

    Args:
        decision: as `LoggedDecision.to_dict` gives it, with `session` where there may be several.
    """
    by, channel = str(decision["by"]), str(decision["channel"])
    nobody = decision["asked"] in (ALLOWED, DENIED) or channel in ("deadline", "limit", "policy", "mode")
    silent = _("the deadline passed") if channel == "deadline" else _("nobody was asked")
    silent = _("decided by a rule") if decision["asked"] == DENIED else silent  # people may have been asked before
    who = in_line(f"({silent})") if nobody else who_words(by, channel)
    why = str(decision["reason"])
    about = "" if decision.get("number") or decision.get("source") else decision["about"]
    parts = [
        in_line(_what(decision)),
        one_line(safe_message(about, multiline=False), _LONGEST),
        *_beside(decision, by if nobody else ""),
    ]
    if answer := str(decision.get("answer", "")):
        parts.append(one_line(in_line(" ".join(answer.split())), _LONGEST))
    if why and why not in answer and why != DEFAULT_SKIP_REASON and decision["verdict"] != EDITED:
        parts.append(f"“{safe_message(why, multiline=False)}”")
    session = [in_line(str(decision["session"]))] if "session" in decision else []
    return (second_words(str(decision["at"])), *session, who, joined(*parts))


def _what(decision: Mapping[str, Any]) -> str:
    verdict, todo_id = str(decision["verdict"]), str(decision["todo_id"])
    if source := str(decision.get("source", "")):
        return copied_words(source, int(decision["number"]))
    if verdict == RESTORED:
        if number := int(decision.get("number", 0)):
            return _("went back to checkpoint {number}").format(number=number)
        return _("went back to an earlier checkpoint")
    if verdict == REOPENED:
        return deed("update", {"todo_id": todo_id, "status": "pending", "was": decision["undone"]})
    if verdict == EDITED:
        return deed("edit", {"todo_id": todo_id, "edits": decision["edits"]})
    if decision["asked"] == DENIED:
        return _("denied {todo}").format(todo=number_of(todo_id))
    if decision["channel"] == "deadline":
        return expired_words(number_of(todo_id), verdict)
    return given_deed(decision)


def _beside(decision: Mapping[str, Any], rule: str) -> Iterable[str]:
    """Yield what kind of question it was where that isn't plain, and what rule or mode let a step run."""
    if (kind := decision["asked"]) in _KINDS:
        yield _(_KINDS[kind])
    if takes := int(decision.get("takes") or 0):
        yield _("vote {number} of {takes}").format(number=decision["vote"], takes=takes)
    if void := decision.get("void"):
        yield _("doesn't count: {why}").format(why=safe_message(void, multiline=False))
    if decision.get("runs"):
        yield _("its low-risk steps run without another question")
    if rule and rule != "deadline":
        yield in_line(rule)
