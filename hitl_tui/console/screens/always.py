"""A rule is shown exactly before it is written: what is always allowed, and how one is changed (C3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import BindingType

from hitl_tui.console import keys
from hitl_tui.console.asking import body
from hitl_tui.console.drafts import draft_of
from hitl_tui.console.keyguard.guard import KeyGuard
from hitl_tui.console.keymap import keymap_of
from hitl_tui.console.screens.dialogs import Reading
from hitl_tui.console.screens.filling import Filling
from hitl_tui.console.screens.form import NOTHING_SAID
from hitl_tui.console.screens.overtaken import told_when_gone
from hitl_tui.core.errors import Refused
from hitl_tui.core.interrupts.shape import Form, Wants
from hitl_tui.core.policy import Mode, Risk
from hitl_tui.core.safe_text import safe_text
from hitl_tui.language import _, mark
from hitl_tui.policy.standing_rules import ANY, EXACT, NEVER, StandingRule, changed
from hitl_tui.wording.rows import Row, styled, text_row

if TYPE_CHECKING:
    from hitl_tui.commands.results import CommandResult
    from hitl_tui.console.base import ConsoleApp
    from hitl_tui.console.engine import Link
    from hitl_tui.supervisor.snapshot import Question


class Always(Reading[bool]):
    """Shows the exact rule that would be written. `1` writes it; Enter and Esc mean no.

    Args:
        title: one line, safe.
        rule: the rule.
        rows: what it means.
        guard: when keys decide.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.ALWAYS)]

    def __init__(self, title: str, rule: StandingRule, rows: Sequence[Row], guard: KeyGuard) -> None:
        said = [
            *rows,
            text_row(_("hitl.toml comes first: what it asks or denies, this doesn't allow. /rules takes it back.")),
            text_row(""),
            text_row(_("The rule, as it would be written:"), "$text-muted"),
            toml_row(rule),
        ]
        keys_said = _("{reading.yes} Write the rule · {always.no} or {reading.close} no, nothing is written")
        super().__init__(title, said, keys_said, guard)

    def confirmed(self) -> None:
        self.dismiss(True)


def toml_row(rule: StandingRule) -> Row:
    """Return a rule as it stands in the file."""
    return Row("", styled(safe_text(rule.to_toml().rstrip())), exact=True)


class Changing(Filling):
    """The fields of a rule that can be changed, with the rule that comes of it; dismissed with that."""

    LABEL = mark("The rule, as it would be written")

    def __init__(self, rule: StandingRule, by: str, at: str) -> None:
        fields: dict[str, Any] = {"until": {"type": "string", "description": _("8h, 7d, 2030-01-31, or never")}}
        present = {"until": rule.until}
        if rule.input and rule.risk is not Risk.HIGH:
            fields["input"], present["input"] = {"type": "string", "enum": [EXACT, ANY]}, EXACT
        wants = Wants(Form.FIELDS, {"type": "object", "properties": fields}, present)
        super().__init__(_("Change a rule"), wants, lambda given: changed(rule, given, by=by, at=at))

    def made_rows(self, values: Mapping[str, Any], made: StandingRule) -> list[Row]:
        return [toml_row(made)]


async def allow_always(app: ConsoleApp, link: Link, question: Question, guard: KeyGuard) -> CommandResult | None:
    """Show the rule that would always allow exactly what a question asks, and write it when that is confirmed.

    Returns:
        What became of it; None when it wasn't confirmed.

    Raises:
        Refused: what is asked isn't what was shown any more.
    """
    command = f"/rules allow {question.todo_id}"
    proposed = await link.handler.handle(command)
    if proposed.failed:
        return proposed
    if proposed.data["digest"] != question.digest:
        raise Refused(_("What was shown isn't what is asked any more; look again."), reason="stale")
    seen = link.face.snapshot
    key = keymap_of(app).shown("question.6")
    shown = body(question, seen.workspace, key, await draft_of(link, question, None))
    rule = StandingRule.from_dict(proposed.data["rule"])
    rows = [text_row(_("From now on exactly this runs in this workspace without asking:"), "bold"), *shown]
    if seen.mode == Mode.STEP:
        rows.append(text_row(_("In mode ASK EVERY STEP everything still asks; the rule applies in the other modes.")))
    else:
        rows.append(text_row(_("This question is answered by it at once."), "bold $text-warning"))
    async with told_when_gone(app, link, question):
        confirmed = await app.push_screen_wait(Always(_("Always allow"), rule, rows, guard))
    if not confirmed:
        app.say(_("Nothing was written."))
        return None
    return await link.handler.handle(f"{command} --digest {question.digest}")


async def change_rule(
    app: ConsoleApp, link: Link, rule: StandingRule, guard: KeyGuard, by: str
) -> CommandResult | None:
    """Let a person change a rule in a form, show what comes of it, and write that when it is confirmed.

    Returns:
        What became of it; None when it wasn't confirmed.
    """
    fresh = await app.push_screen_wait(Changing(rule, by, link.face.desk.now()))
    if fresh is NOTHING_SAID or fresh == rule:
        return None
    kept = set(fresh.to_toml().splitlines())
    gone = "\n".join(line for line in rule.to_toml().splitlines() if line not in kept)
    rows = [text_row(_("It was:"), "$text-muted"), Row("", styled(safe_text(gone)), exact=True), text_row("")]
    if not await app.push_screen_wait(Always(_("Change a rule"), fresh, rows, guard)):
        app.say(_("Nothing was written."))
        return None
    wider = f" --input {ANY}" if rule.input and not fresh.input else ""
    return await link.handler.handle(f"/rules edit {rule.id} --until {fresh.until or NEVER}{wider}")
