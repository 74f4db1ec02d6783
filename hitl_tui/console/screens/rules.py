"""What is always allowed: a rule shown before it is written, and the list of rules with their revocation (C3)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Resize
from textual.screen import ModalScreen
from textual.widgets import DataTable, Static

from hitl_tui.config.standing import StandingRule
from hitl_tui.console import keys
from hitl_tui.console.arming import Arming
from hitl_tui.console.asking import Row, body, text_row
from hitl_tui.console.drafts import draft_of
from hitl_tui.console.keymap import keymap_of
from hitl_tui.console.screens.dialogs import Reading
from hitl_tui.console.terms import day_words
from hitl_tui.core.errors import Refused
from hitl_tui.core.policy import Mode
from hitl_tui.core.safe_text import one_line, safe_text
from hitl_tui.language import _, render

if TYPE_CHECKING:
    from hitl_tui.commands.results import CommandResult
    from hitl_tui.console.engine import Link
    from hitl_tui.supervisor.snapshot import Question

_TAKEN = 52
"""Cells of the list's other columns, their padding and the dialog's edges."""

Revoke = Callable[[StandingRule], Awaitable[Sequence[StandingRule]]]
"""Takes a rule back; returns the rules that are left."""


class Always(Reading[bool]):
    """Shows the exact rule that would be written. `1` writes it; Enter and Esc mean no.

    Args:
        rule: the rule.
        step: the session asks for every step, so that the rule changes nothing for now.
        shown: the exact input that it would allow.
        arming: when keys decide.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.ALWAYS)]

    def __init__(self, rule: StandingRule, step: bool, shown: Sequence[Row], arming: Arming) -> None:
        rows = [text_row(_("From now on exactly this runs in this workspace without asking:"), "bold"), *shown]
        if step:
            rows.append(
                text_row(_("In mode ASK EVERY STEP everything asks still: the rule counts in the other modes."))
            )
        else:
            rows.append(text_row(_("This question is answered by it at once."), "bold $text-warning"))
        rows += [
            text_row(_("hitl.toml comes first: what it asks or denies, this doesn't allow. /rules takes it back.")),
            text_row(""),
            text_row(_("The rule, as it would be written:"), "$text-muted"),
            Row("", Content(safe_text(rule.to_toml().rstrip())), exact=True),
        ]
        super().__init__(
            _("Always allow"),
            rows,
            _("{reading.yes} Write the rule · {always.no} or {reading.close} no, nothing is written"),
            arming,
        )

    def confirmed(self) -> None:
        self.dismiss(True)


class Rules(ModalScreen[None]):
    """Lists the rules, newest last; `x` takes the one at the cursor back. That only means that it asks again.

    Args:
        rules: all rules, in the file's order.
        workspace: the session's.
        revoke: takes one back.
    """

    CSS_PATH: ClassVar[list[str | PurePath]] = ["dialogs.tcss", "../widgets/rows.tcss"]
    DEFAULT_CSS = """
    Rules { align: center middle; background: $background 60%; }
    #rules-table { height: 1fr; background: $surface; }
    #rules-one { height: auto; max-height: 6; color: $text-muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.RULES)]

    def __init__(self, rules: Sequence[StandingRule], workspace: str, revoke: Revoke) -> None:
        super().__init__()
        self._rules = tuple(rules)
        self._workspace = workspace
        self._revoke = revoke

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -large", id="rules"):
            yield DataTable(id="rules-table", cursor_type="row", show_header=False)
            yield Static("", id="rules-one", markup=False)
            yield Static(
                Content(
                    keymap_of(self.app).named(
                        _("{rules.revoke} takes it back: it asks again · {rules.close} closes, nothing is allowed here")
                    )
                ),
                classes="dialog-keys",
            )

    def on_mount(self) -> None:
        table = self.query_one(DataTable)
        for key, size in (("n", 3), ("risk", 6), ("what", self._room), ("by", 10), ("at", 16)):
            table.add_column("", key=key, width=size)
        self._fill()
        table.focus()

    def on_resize(self, event: Resize) -> None:
        table = self.query_one(DataTable)
        if table.columns:
            here = table.cursor_row
            self._fill()
            table.move_cursor(row=here, animate=False)

    @property
    def _room(self) -> int:
        """Cells that are left for what a rule allows."""
        return max(10, min(self.app.size.width * 9 // 10, 120) - _TAKEN)

    def _fill(self) -> None:
        count = len(self._rules)
        self.query_one("#rules").border_title = Content(
            _("Always allowed · {count}").format(count=count) if count else _("Nothing is always allowed")
        )
        table = self.query_one(DataTable)
        table.clear()
        table.columns["what"].width = width = self._room  # type: ignore[index]
        for number, rule in enumerate(self._rules, start=1):
            cells = (
                str(number),
                render(rule.risk.value),
                one_line(rule.shown, width),
                one_line(rule.by, 10),
                day_words(rule.at),
            )
            table.add_row(*(Text(cell) for cell in cells))
        self._show_one(0)

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        event.stop()
        self._show_one(event.cursor_row)

    def _show_one(self, row: int) -> None:
        text = ""
        if 0 <= row < len(self._rules):
            rule = self._rules[row]
            where = _("this workspace") if rule.workspace == self._workspace else rule.workspace
            exact = _("input {digest}…").format(digest=rule.input[:16]) if rule.input else _("any input")
            text = _("{shown}\n{where} · {exact} · id {id}").format(
                shown=rule.shown, where=safe_text(where, multiline=False), exact=exact, id=rule.id
            )
        self.query_one("#rules-one", Static).update(Content(text))

    async def action_revoke(self) -> None:
        row = self.query_one(DataTable).cursor_row
        if 0 <= row < len(self._rules):
            self._rules = tuple(await self._revoke(self._rules[row]))
            self._fill()

    def action_close(self) -> None:
        self.dismiss(None)


async def allow_always(app: App[int], link: Link, question: Question, arming: Arming) -> CommandResult | None:
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
    shown = body(question, seen.workspace, await draft_of(link, question, None))
    rule = StandingRule.from_dict(proposed.data["rule"])
    if not await app.push_screen_wait(Always(rule, seen.mode == Mode.STEP, shown, arming)):
        return None
    return await link.handler.handle(f"{command} --digest {question.digest}")


async def list_rules(app: App[int], link: Link, report: Callable[[CommandResult], None]) -> None:
    """Show what is always allowed; there it can be taken back."""

    async def known() -> list[StandingRule]:
        result = await link.handler.handle("/rules")
        return [StandingRule.from_dict(row) for row in result.data.get("rules", ())]

    async def revoke(rule: StandingRule) -> list[StandingRule]:
        report(await link.handler.handle(f"/rules revoke {rule.id}"))
        return await known()

    await app.push_screen_wait(Rules(await known(), link.face.snapshot.workspace, revoke))
