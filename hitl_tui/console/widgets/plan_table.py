"""The plan: one line a TODO, with its status in a glyph and a word; its order is changed by keys or by dragging."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import ClassVar

from rich.style import Style
from textual.binding import BindingType
from textual.content import Content
from textual.events import AppBlur, Blur, Click, MouseDown, MouseEvent, MouseMove, MouseUp
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer

from hitl_tui.console import keys
from hitl_tui.console.keymap import keymap_of
from hitl_tui.console.themes import rich_colour
from hitl_tui.console.widgets.plan_list import PlanList
from hitl_tui.console.widgets.row_drag import MARKED, Drop, RowDrag, with_place, with_sign
from hitl_tui.core.safe_text import one_line
from hitl_tui.language import _
from hitl_tui.wording.status_words import PlanRow

_SCROLLS_EVERY = 0.06
_TITLE = 60
"""Cells of a TODO's title in what is said about it."""


class PlanTable(PlanList):
    """All TODOs in plan order, or those that have certain words.

    Args:
        id: of the widget.
        fixed: why the order of this plan can't be changed; empty where it can.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.PLAN)]

    class Wanted(Message):
        """A key asks for `undo`, `filter`, `steps` or `leave`; `mark` and `unmark` are about the TODO's question."""

        def __init__(self, what: str, todo_id: str) -> None:
            super().__init__()
            self.what = what
            self.todo_id = todo_id

    class Acted(Message):
        """Something shall be done to the marked TODOs, or to the one at the cursor: see `console/bulk_actions.py`."""

        def __init__(self, what: str, ids: Sequence[str]) -> None:
            super().__init__()
            self.what = what
            self.ids = ids

    class Moved(Message):
        """TODOs shall have another place."""

        def __init__(self, drop: Drop) -> None:
            super().__init__()
            self.drop = drop

    class Stepped(Message):
        """TODOs shall go up or down by one, among those that are shown."""

        def __init__(self, ids: Sequence[str], by: int, shown: Collection[str]) -> None:
            super().__init__()
            self.ids = ids
            self.by = by
            self.shown = shown

    class Held(Message):
        """Nothing moves; why. Or what a key did to which row."""

        def __init__(self, why: str) -> None:
            super().__init__()
            self.why = why

    def __init__(self, id: str | None = None, fixed: str = "") -> None:
        super().__init__(id)
        self.fixed = fixed
        self._marks: frozenset[str] = frozenset()
        self._chosen: frozenset[str] = frozenset()
        self.heading = ""
        """What its title begins with; empty to leave the title to the screen."""
        self._drag: RowDrag | None = None
        self._drop: Drop | None = None
        self._edge: Timer | None = None
        self._dragged = False

    def update_rows(self, rows: Sequence[PlanRow]) -> None:
        """Show these lines; the cursor stays on its TODO, and marks on those that are still there."""
        super().update_rows(rows)
        self._chosen &= {r.todo_id for r in rows}
        self._say()

    def reset(self) -> None:
        """Show nothing, and forget what was looked for: another plan comes."""
        super().reset()
        self._say()

    def rearranged(self) -> None:
        self._follow()

    def seek(self) -> None:
        super().seek()
        self._say()

    def _entitle(self) -> None:
        """Say above the rows how many there are, where the pane has a title that says so."""
        if not self.heading:
            return
        n, total = len(self._rows), len(self._all)
        title = self.heading
        if self.finding.needle:
            title = _("{pane} · {n:,} of {total:,}").format(pane=title, n=n, total=total)
        elif total:
            title = _("{pane} · {n:,}").format(pane=title, n=total)
        if str(self.border_title or "") != title:
            self.border_title = Content(title)

    def _say(self) -> None:
        """Say in the frame how many rows there are, and what letting go would do, what is looked for or marked."""
        self._entitle()
        said = self._foot()
        if self.border_subtitle != said.markup:
            self.border_subtitle = said

    def _foot(self) -> Content:
        if self._drop is not None:
            number, moving = {r.todo_id: r.number for r in self._rows}, self._drop.ids
            if len(moving) > 1:
                before, after = _("{n} steps before {anchor}"), _("{n} steps after {anchor}")
            else:
                before, after = _("{todo} before {anchor}"), _("{todo} after {anchor}")
            said = before if self._drop.where == "before" else after
            where = said.format(n=len(moving), todo=number[moving[0]], anchor=number[self._drop.anchor])
            back = keymap_of(self.app).named(_("{plan.leave}: back"))
            return Content.styled(f"{where} · {back}", "bold $text-warning")
        if self.dragging:
            return Content.styled(_("nothing moves"), "$text-muted")
        if not self.finding.active:
            return self._marked_words()
        n, total = len(self._rows), len(self._all)
        found = _("{n:,} of {total:,}").format(n=n, total=total) if self.finding.text else ""
        if not self.finding.typing:
            found += f" · {keymap_of(self.app).named(_('{plan.leave}: all'))}"
        return self.finding.shown(found)

    def _marked_words(self) -> Content:
        if not self._marked:
            return Content("")
        keymap = keymap_of(self.app)
        acts = [k for k in keymap.of(keys.PLAN) if k.action.startswith("act(")]
        listed = " · ".join(f"{keymap.shown(k.id)} {_(k.label)}" for k in acts)
        said = _("{n} marked · {keys}").format(n=len(self._marked), keys=listed)
        return Content.styled(one_line(said, max(10, self.size.width - 4)), "bold $text-warning")

    # Another order ---------------------------------------------------------------------------------------------

    @property
    def dragging(self) -> bool:
        """A row is being dragged."""
        return self._drag is not None and self._drag.begun

    def show_marks(self, marked: Collection[str]) -> None:
        """Show which TODOs' questions are marked; they count as marked here, too."""
        if self._marks != frozenset(marked):
            gone, self._marks = self._marks.difference(marked), frozenset(marked)
            self._chosen -= gone
            self._say()
            self.refresh()

    @property
    def marked(self) -> tuple[str, ...]:
        """Ids of what is marked, here or as a question, in the order of the plan."""
        return tuple(row.todo_id for row in self._all if row.todo_id in self._marked)

    @property
    def _marked(self) -> frozenset[str]:
        """Ids of what is marked, here or as a question."""
        return self._chosen | self._marks

    def action_move(self, by: int) -> None:
        """Let the TODO at the cursor go up or down."""
        if self.fixed:
            self.post_message(self.Held(self.fixed))
        elif self.selected:
            shown = frozenset(self._ids) if self.finding.text else ()
            self.post_message(self.Stepped(self._together(self.selected), by, shown))

    def action_choose(self) -> None:
        """Mark the TODO at the cursor, or take its mark away: marked ones are acted on together."""
        if self.fixed:
            self.post_message(self.Held(self.fixed))
        elif self.selected in self._marked:
            self._unmark({self.selected})
            self._tell(_("{todo} isn't marked any more: {title}"))
        elif self.selected:
            self._mark(self._chosen | {self.selected})
            self.post_message(self.Wanted("mark", self.selected))
            self._tell(_("{todo} is marked: {title}"))

    def _tell(self, words: str) -> None:
        """Say what was done on which row."""
        row = next(r for r in self._rows if r.todo_id == self.selected)
        self.post_message(self.Held(words.format(todo=row.number, title=one_line(row.title, _TITLE))))

    def action_act(self, what: str) -> None:
        """Do something to the marked TODOs that are shown; with none to the one at the cursor."""
        marked = tuple(r.todo_id for r in self._rows if r.todo_id in self._marked)
        ids = marked or ((self.selected,) if self.selected else ())
        if self.fixed:
            self.post_message(self.Held(self.fixed))
        elif ids:
            self.post_message(self.Acted(what, ids))

    def _unmark(self, ids: Collection[str]) -> None:
        self._mark(self._chosen.difference(ids))
        for todo_id in self._marks.intersection(ids):
            self.post_message(self.Wanted("unmark", todo_id))

    def _mark(self, chosen: frozenset[str]) -> None:
        if chosen != self._chosen:
            self._chosen = chosen
            self._say()
            self.refresh()

    def _together(self, todo_id: str) -> tuple[str, ...]:
        """Return what moves with a TODO: if it is marked, all marked ones that have a place in the order."""
        if todo_id not in self._marked:
            return (todo_id,)
        moving = tuple(r.todo_id for r in self._rows if r.todo_id in self._marked and not r.fixed)
        return moving or (todo_id,)

    def on_mouse_down(self, event: MouseDown) -> None:
        self._let_go()
        self._dragged = False
        at = event.get_content_offset(self)
        if event.button == 1 and at is not None and int(self.scroll_y) + at.y < len(self._ids):
            todo_id = self._ids[int(self.scroll_y) + at.y]
            self._drag = RowDrag(todo_id, self._together(todo_id), at.y)
            self.capture_mouse()

    def on_mouse_move(self, event: MouseMove) -> None:
        if self._drag is None:
            return
        event.prevent_default()
        if event.button != 1:  # it was let go where nobody said so
            self._let_go()
            return
        self._drag = self._drag.moved(self._line(event), inside=event.get_content_offset(self) is not None)
        self._follow()

    def on_mouse_up(self, event: MouseUp) -> None:
        self._dragged = self.dragging and event.get_content_offset(self) is not None
        drop = self._drop
        self._let_go()
        if drop is not None:
            self.post_message(self.Moved(drop))

    def on_click(self, event: Click) -> None:
        if self._dragged:  # what ends a drag is no click on the row below it
            self._dragged = False
            event.prevent_default()

    def on_blur(self, event: Blur) -> None:
        self._let_go()

    def on_app_blur(self, event: AppBlur) -> None:
        self._let_go()

    def _line(self, event: MouseEvent) -> int:
        return event.y - (self.content_region.y - self.region.y)

    def _follow(self) -> None:
        """The pointer moved, or the rows below it did."""
        if self._drag is None:
            return
        if self._drag.todo_id not in self._ids:
            self._let_go()
            return
        begun, shown = self._drag.begun, (self._drag.over, self._drop)
        self._drag = self._drag.above(self._ids, int(self.scroll_y))
        if self._drag.begun and not begun:
            row = self._rows[self._ids.index(self._drag.todo_id)]
            if why := self.fixed or row.fixed:
                self._let_go()
                self._dragged = True
                self.post_message(self.Held(why))
                return
            self.move_cursor(row=self._ids.index(self._drag.todo_id), scroll=False)
            self._edge = self.set_interval(_SCROLLS_EVERY, self._scroll_on)
        self._drop = self._drag.drop(self._ids)
        if self._drag.begun and shown != (self._drag.over, self._drop):
            self._say()
            self.refresh()

    def _scroll_on(self) -> None:
        if self._drag is not None and (by := self._drag.scroll(self.scrollable_content_region.height)):
            before = self.scroll_y
            self.scroll_relative(y=by, animate=False)
            if self.scroll_y != before:
                self._follow()

    def _let_go(self) -> None:
        if self._edge is not None:
            self._edge.stop()
            self._edge = None
        if self._drag is not None:
            self._drag = self._drop = None
            self.release_mouse()
            self._say()
            self.refresh()

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        row = y + int(self.scroll_y)
        if (self._drag is None and not self._marked) or row >= len(self._ids):
            return strip
        accent = Style(color=rich_colour(self.app.theme_variables.get("text-warning", "")), bold=True)
        if self._ids[row] in self._marked:
            strip = with_sign(strip, MARKED, accent)
        if self._drag is not None and self._drag.begun:
            strip = with_place(strip, self._ids, row, self._drag, self._drop, accent, top=y == 0)
        return strip

    # What else is wanted ---------------------------------------------------------------------------------------

    def action_undo(self) -> None:
        self.post_message(self.Wanted("undo", self.selected))

    def action_undo_last(self) -> None:
        self.post_message(self.Held(self.fixed) if self.fixed else self.Wanted("undo", ""))

    def action_steps(self) -> None:
        self.post_message(self.Wanted("steps", self.selected))

    def action_filter(self) -> None:
        self.post_message(self.Wanted("filter", self.selected))

    def action_leave(self) -> None:
        if self._drag is not None:
            self._let_go()
        elif self.stop_finding():
            pass
        elif self._marked:
            self._unmark(self._marked)
        else:
            self.post_message(self.Wanted("leave", ""))
