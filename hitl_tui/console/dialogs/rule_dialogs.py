"""Dialogs for rules: one shown exactly before it is written, one changed, and all of them in a list."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.events import Resize
from textual.widgets import DataTable, Static

from hitl_tui.console import keys
from hitl_tui.console.dialogs.answer_dialog import FieldsAnswer
from hitl_tui.console.dialogs.decided_elsewhere import told_when_gone
from hitl_tui.console.dialogs.form_model import Form, schema_fields
from hitl_tui.console.dialogs.guarded_dialog import CSS, named_keys
from hitl_tui.console.dialogs.reading_dialog import ReadingDialog
from hitl_tui.console.keymap import keymap_of
from hitl_tui.console.modal_screen import Modal
from hitl_tui.console.question_preview import draft_of
from hitl_tui.console.widgets.dialog_frame import Dialog
from hitl_tui.console.widgets.lists import Listing
from hitl_tui.console.widgets.virtual_rows import Rows
from hitl_tui.console.workers import work_on
from hitl_tui.core.errors import Refused
from hitl_tui.core.json_types import Json, JsonObject
from hitl_tui.core.policy import Risk
from hitl_tui.core.safe_text import one_line, safe_text
from hitl_tui.language import _, mark
from hitl_tui.policy.standing_rules import ANY, EXACT, NEVER, StandingRule, changed
from hitl_tui.supervisor.snapshot import has_preview
from hitl_tui.wording.question_rows import body
from hitl_tui.wording.rows import Row, styled, text_row
from hitl_tui.wording.rule_rows import policy_words, rule_words
from hitl_tui.wording.times import day_words

if TYPE_CHECKING:
    from hitl_tui.commands.results import CommandResult
    from hitl_tui.console.services import Console
    from hitl_tui.console.session_handle import SessionHandle
    from hitl_tui.supervisor.snapshot import Question


class RuleDialog(ReadingDialog[bool]):
    """Shows the exact rule that would be written. `1` writes it; Enter and Esc mean no.

    Args:
        title: one line, safe.
        rule: the rule.
        rows: what it means.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.ALWAYS)]

    def __init__(self, title: str, rule: StandingRule, rows: Sequence[Row]) -> None:
        said = [
            *rows,
            text_row(_("hitl.toml comes first: this doesn't allow what it asks or denies. To revoke this: /rules")),
            text_row(""),
            text_row(_("Rule to be written:"), "$text-muted"),
            toml_row(rule),
        ]
        keys_said = _("{reading.yes} Write the rule · {always.no} or {reading.close} Cancel")
        super().__init__(title, said, keys_said)

    def confirmed(self) -> None:
        self.dismiss(True)


def toml_row(rule: StandingRule) -> Row:
    """Return a rule as it stands in the file."""
    return Row("", styled(safe_text(rule.to_toml().rstrip())), exact=True)


class RuleChange(FieldsAnswer[StandingRule | None]):
    """The fields of a rule that can be changed, with the rule that comes of it; dismissed with that."""

    LEFT = None
    LABEL = mark("Rule to be written")
    SENDS = ("form.send", mark("Continue"))  # the next dialog shows the rule and asks
    DECIDES = ""

    def __init__(self, rule: StandingRule, by: str, at: str) -> None:
        fields: dict[str, Json] = {"until": {"type": "string", "description": _("8h, 7d, 2030-01-31, or never")}}
        present = {"until": rule.until}
        if rule.input and rule.risk is not Risk.HIGH:
            fields["input"], present["input"] = {"type": "string", "enum": [EXACT, ANY]}, EXACT
        form = Form(schema_fields({"properties": fields}, present), present)
        super().__init__(_("Change a rule"), form, partial(_changed, rule, by, at))

    def show_answer(self, answer: StandingRule | None) -> None:
        self.query_one(Rows).show([toml_row(answer)] if answer is not None else [])


def _changed(rule: StandingRule, by: str, at: str, given: JsonObject) -> StandingRule:
    return changed(rule, {name: str(value) for name, value in given.items()}, by=by, at=at)


async def allow_always(app: Console, handle: SessionHandle, question: Question) -> CommandResult | None:
    """Show the rule that would always allow exactly what a question asks, and write it when that is confirmed.

    Returns:
        What became of it; None when it wasn't confirmed.

    Raises:
        Refused: what is asked isn't what was shown any more.
    """
    command = f"/rules allow {question.todo_id}"
    proposed = await handle.handler.handle_command(command)
    if proposed.failed:
        return proposed
    if proposed.data["digest"] != question.digest:
        raise Refused(_("The question changed since it was shown; read it again."), reason="stale")
    key = keymap_of(app).shown("question.6")
    shown = body(question, key, await draft_of(handle, question))
    rule = StandingRule.from_dict(proposed.data["rule"])
    rows = [
        text_row(_("From now on exactly this runs in this workspace without asking:"), "bold"),
        *shown,
        text_row(_("It also approves this question at once."), "bold $text-warning"),
    ]
    if has_preview(question.view.request):
        said = _("The preview shows what it would do today. The rule allows the command whatever it does later.")
        rows.append(text_row(said, "bold $text-warning"))
    async with told_when_gone(app, handle, question):
        confirmed = await app.push_screen_wait(RuleDialog(_("Always allow"), rule, rows))
    if not confirmed:
        app.say(_("Nothing was written."))
        return None
    return await handle.handler.handle_command(f"{command} --digest {question.digest}")


async def change_rule(app: Console, handle: SessionHandle, rule: StandingRule, by: str) -> CommandResult | None:
    """Let a person change a rule in a form, show what comes of it, and write that when it is confirmed.

    Returns:
        What became of it; None when it wasn't confirmed.
    """
    fresh = await app.push_screen_wait(RuleChange(rule, by, handle.session.writer.now()))
    if fresh is None or fresh == rule:
        return None
    kept = set(fresh.to_toml().splitlines())
    gone = "\n".join(line for line in rule.to_toml().splitlines() if line not in kept)
    rows = [text_row(_("It was:"), "$text-muted"), Row("", styled(safe_text(gone)), exact=True), text_row("")]
    if not await app.push_screen_wait(RuleDialog(_("Change a rule"), fresh, rows)):
        app.say(_("Nothing was written."))
        return None
    wider = f" --input {ANY}" if rule.input and not fresh.input else ""
    return await handle.handler.handle_command(f"/rules edit {rule.id} --until {fresh.until or NEVER}{wider}")


POLICY_FILE = "hitl.toml"
_WIDTHS = {"n": 3, "risk": 6, "what": 0, "by": 10, "at": 16}
"""Cells of the columns; what a rule allows gets what is left."""
_DAY = 10
"""Cells of a day: in a narrow terminal the time of it and who made a rule are in the line below alone."""
_NARROW = 80
_PADDING, _EDGES = 2, 7
"""Cells beside the words of a column, and beside the list."""


class Known(NamedTuple):
    """The rules there are.

    Args:
        rules: what is always allowed, in the file's order.
        policy: numbers of hitl.toml's rules, and what they say.
    """

    rules: Sequence[StandingRule]
    policy: Sequence[tuple[int, str]]


Act = Callable[[StandingRule], Awaitable[Known]]
"""Does something with a rule; returns the rules as they are then."""


class Acts(NamedTuple):
    """What can be done with what is always allowed: taking it back, and changing it in dialogs."""

    revoke: Act
    edit: Act


class RulesDialog(Modal[None]):
    """Lists the rules, newest last, and then those of hitl.toml, which is changed as a file.

    Args:
        rules: what there is.
        workspace: the session's.
        acts: what can be done with what is always allowed.
    """

    CSS_PATH = CSS
    DEFAULT_CSS = """
    #rules-table { height: auto; background: $surface; margin: 0 0 1 0; }
    #rules-one { height: auto; max-height: 6; color: $text-muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.RULES)]

    def __init__(self, rules: Known, workspace: str, acts: Acts) -> None:
        super().__init__()
        self._known = rules
        self._workspace = workspace
        self._acts = acts

    def compose(self) -> ComposeResult:
        with Dialog(large=True, id="rules"):
            yield Listing(id="rules-table")
            yield Static("", id="rules-one", markup=False)
            said = _("{rules.edit} Change · {rules.revoke} Revoke · {rules.close} Close")
            yield Static(named_keys(keymap_of(self.app), said), classes="dialog-keys")

    def on_mount(self) -> None:
        self._fill()
        self.query_one(DataTable).focus()

    def on_resize(self, event: Resize) -> None:
        table = self.query_one(DataTable)
        if table.columns:
            here = table.cursor_row
            self._fill()
            table.move_cursor(row=here, animate=False)

    def _columns(self) -> dict[str, int]:
        """Return the columns that find room, with their cells."""
        found = dict(_WIDTHS)
        if self.app.size.width < _NARROW:
            del found["by"]
            found["at"] = _DAY
        room = min(self.app.size.width * 9 // 10, 120) - _EDGES - sum(found.values()) - _PADDING * len(found)
        return {**found, "what": max(10, room)}

    def _fill(self) -> None:
        count = len(self._known.rules)
        self.query_one("#rules").border_title = Content(
            _("Always allowed · {count}").format(count=count) if count else _("Nothing is always allowed")
        )
        table = self.query_one(DataTable)
        table.clear(columns=True)
        columns = self._columns()
        for key, size in columns.items():
            table.add_column("", key=key, width=size)
        for number, rule in enumerate(self._known.rules, start=1):
            words = {"risk": _(rule.risk.value), "what": rule.shown, "by": rule.by, "at": day_words(rule.at)}
            if "by" not in columns:
                words["at"] = words["at"][:_DAY]
            cells = {"n": str(number), **words}
            table.add_row(*(Text(one_line(cells[key], size)) for key, size in columns.items()))
        for number, said in self._known.policy:
            cells = {"n": str(number), "what": said, "by" if "by" in columns else "at": POLICY_FILE}
            table.add_row(*(Text(one_line(cells.get(key, ""), size), "dim") for key, size in columns.items()))
        self._show_one(table.cursor_row)

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        event.stop()
        self._show_one(event.cursor_row)

    def _show_one(self, row: int) -> None:
        text = ""
        if (rule := self._at(row)) is not None:
            text = "\n".join((rule.shown, rule_words(rule, self._workspace)))
        elif 0 <= row - len(self._known.rules) < len(self._known.policy):
            said = self._known.policy[row - len(self._known.rules)][1]
            text = "\n".join((safe_text(said, multiline=False), policy_words()))
        self.query_one("#rules-one", Static).update(Content(text))

    def _at(self, row: int) -> StandingRule | None:
        """Return what is always allowed by the rule in a row; None where there is none, or hitl.toml speaks."""
        return self._known.rules[row] if 0 <= row < len(self._known.rules) else None

    def action_edit(self) -> None:
        self._act(self._acts.edit)

    def action_revoke(self) -> None:
        self._act(self._acts.revoke)

    def _act(self, act: Act) -> None:
        if (rule := self._at(self.query_one(DataTable).cursor_row)) is not None:
            work_on(self, partial(self._acted, act, rule), group="rule", exclusive=True)

    async def _acted(self, act: Act, rule: StandingRule) -> None:
        table = self.query_one(DataTable)
        here = table.cursor_row
        self._known = await act(rule)
        self._fill()
        table.move_cursor(row=min(here, max(0, table.row_count - 1)), animate=False)

    def action_close(self) -> None:
        self.dismiss(None)


async def list_rules(app: Console, handle: SessionHandle, report: Callable[[CommandResult], None], by: str) -> None:
    """Show the rules; there they can be changed and taken back."""

    async def known() -> Known:
        data = (await handle.handler.handle_command("/rules")).data
        rules = [StandingRule.from_dict(row) for row in data.get("rules", ())]
        return Known(rules, [(row["n"], row["said"]) for row in data.get("policy", ())])

    async def revoke(rule: StandingRule) -> Known:
        report(await handle.handler.handle_command(f"/rules revoke {rule.id}"))
        return await known()

    async def edit(rule: StandingRule) -> Known:
        if (result := await change_rule(app, handle, rule, by)) is not None:
            report(result)
        return await known()

    await app.push_screen_wait(RulesDialog(await known(), handle.session.snapshot.workspace, Acts(revoke, edit)))
