"""The one-row bars: header, message, keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

from textual.app import RenderResult
from textual.content import Content
from textual.geometry import Size
from textual.reactive import reactive
from textual.timer import Timer
from textual.widget import Widget

from hitl_tui.console.keymap import keymap_of, shown_keys
from hitl_tui.console.keys import KeySpec
from hitl_tui.console.services import console_of
from hitl_tui.core.safe_text import cell_width, one_line
from hitl_tui.language import _

_KEPT = ("console.help", "console.quit")
"""Keys that a line always has room for, if it is wide enough for them at all."""
_NAME = " hitl-tui "
_ROOMY = 60
"""Cells of a header with room for the program's name."""
_LONGEST = 1000
"""Characters of a message on the screen; the stream has all of it."""


class HeaderBar(Widget):
    """Name, session and title on the left; mode; what needs a person on the right.

    In a narrow terminal the program's name goes first, then the title: the mode is always there.
    """

    session: reactive[str] = reactive("")
    title_text: reactive[str] = reactive("")
    mode: reactive[str] = reactive("")
    status: reactive[str] = reactive("")
    doing: reactive[str] = reactive("")
    followed: reactive[str] = reactive("")
    read_only: reactive[bool] = reactive(False)

    def render(self) -> RenderResult:
        width = self.size.width
        right = (
            [(f" {self.status} ", "bold $text-warning" if self.status.startswith("●") else "bold")]
            if self.status
            else []
        )
        if self.doing:
            right.insert(0, (f" {self.doing} ", "$text-muted"))
        session = f" {self.session} " if self.session else ""
        followed = ""
        if self.followed:
            said = self.followed if width >= 110 else _("followed")
            followed = f" {_('read-only') if self.read_only else said} "
        left_for_mode = width - sum(cell_width(t) for t in (session, followed, *(t for t, __ in right))) - 2
        mode = one_line(self.mode, max(1, left_for_mode))
        fits = cell_width(_NAME) + cell_width(mode) <= left_for_mode
        name = _NAME if fits and (width >= _ROOMY or not session) else ""
        middle = [(f" {mode} ", "$foreground on $panel")] if mode else []
        if followed:
            middle.insert(0, (followed, "bold $text-warning"))
        used = sum(cell_width(t) for t, __ in [*right, *middle])
        room = width - used - cell_width(name) - cell_width(session) - 1
        title = one_line(self.title_text, max(0, room))
        gap = " " * max(0, room - cell_width(title) + 1)
        left = [(name, "bold $text-primary"), (session, "bold"), (title, "$text-muted"), (gap, "")]
        return Content.assemble(*left, *middle, *right).truncate(max(1, width))


class KeyLine(Widget):
    """The keys that apply now. Those without room are in the help, whose own key stays, as the one to quit does."""

    keys: reactive[tuple[tuple[str, str, str], ...]] = reactive(())

    def show(self, specs: Sequence[KeySpec]) -> None:
        """Show the first key of each of these as it is mapped now, the most important first."""
        keymap = keymap_of(self.app)
        found: list[tuple[str, str, str]] = []
        for spec in specs:
            shown, label = shown_keys(keymap.now(spec).keys.split(",")[0]), _(spec.label)
            if found and found[-1][2] == label:  # two ways of one thing, as up and down
                found[-1] = (found[-1][0], f"{found[-1][1]} {shown}", label)
            else:
                found.append((spec.id, shown, label))
        self.keys = tuple(found)

    def render(self) -> RenderResult:
        shown = list(self.keys)
        while (
            len(shown) > 1
            and sum(cell_width(key) + cell_width(label) + 3 for __, key, label in shown) >= self.size.width
        ):
            spare = [i for i, (name, __, __) in enumerate(shown) if name not in _KEPT]
            del shown[spare[-1] if spare else -1]
        parts: list[tuple[str, str]] = []
        for __, key, label in shown:
            parts += [(f" {key}", "bold $text-primary"), (f" {label} ", "$text-muted")]
        return Content.assemble(*parts)


_LASTS = 5.0
"""Seconds that a message stays at most."""
_READ = 3.0
"""Seconds that a message stays at least when a question comes, so that it can be read."""
_LOOKS = 0.5
"""Seconds between two looks at how long it has been there."""


class MessageLine(Widget):
    """What just happened, or how the typed command is used. An error says so in words.

    A message goes with the next key, after five seconds, or with the next question once there was time to read it; one
    that says that nothing was done stays until that key, and goes with that question at once. What goes on being so
    comes back then, and what has to be seen once stays until a key is pressed while it is there.
    It is as high as a message needs, up to three rows where the terminal has them.
    """

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._text = ""
        self._error = False
        self._passing = False
        self._hint = ""
        self._standing = ""
        self._wrong = False
        self._unseen = ""
        self._unseen_wrong = True
        self._until = 0.0
        self._least = 0.0
        self._rows = 1
        self._then: Callable[[], None] | None = None
        self._ageing: Timer | None = None

    @property
    def text(self) -> str:
        """What it says; empty when it says nothing."""
        return self._text or self._standing or self._unseen

    @property
    def error(self) -> bool:
        """What it says is an error."""
        return (
            self._error if self._text else self._wrong if self._standing else bool(self._unseen) and self._unseen_wrong
        )

    def say(
        self, text: str, *, error: bool = False, passing: bool = False, then: Callable[[], None] | None = None
    ) -> None:
        """Show one message in place of what is there.

        Args:
            text: one line, safe; empty for none.
            error: it is an error.
            passing: nothing was done, and why.
            then: called once it is gone.
        """
        self._tell(text, error=error, passing=passing, then=then)
        self._rows = 1
        if text and self.is_attached:
            now = console_of(self.app).guard.now
            self._until, self._least = inf if passing else now + _LASTS, now + _READ
            self._ageing = self._ageing or self.set_interval(_LOOKS, self._grow_old)
        self.refresh(layout=True)

    def _tell(self, text: str, *, error: bool, passing: bool, then: Callable[[], None] | None) -> None:
        gone, self._then = self._then, then
        self._text, self._error, self._passing = text, error, passing
        if not text and self._ageing is not None:
            self._ageing.stop()
            self._ageing = None
        if gone is not None:
            gone()

    def stand(self, text: str, *, error: bool = True) -> None:
        """Say what goes on, or wrong, until it is over, whenever there is nothing else to say; empty for nothing."""
        wrong = error and bool(text)
        if (text, wrong) != (self._standing, self._wrong):
            self._standing, self._wrong = text, wrong
            self.refresh(layout=True)

    def keep(self, text: str, *, error: bool = True) -> None:
        """Say something whenever there is nothing else to say, until a key is pressed while it is there.

        What isn't an error never takes the place of one.
        """
        if self._unseen and self._unseen_wrong and not error:
            return
        self._unseen, self._unseen_wrong = text, error
        self.refresh(layout=True)

    def pass_by(self) -> None:
        """A key was pressed: what was said of the moment before was seen."""
        if self._unseen and not (self._text or self._standing or self._hint):
            self._unseen = ""
            self.refresh(layout=True)
        if self._text or self._rows > 1:
            self.say("")

    def overtaken(self, *, asked: bool) -> None:
        """What waits for a person changed: that nothing was done, and why, may not be true any more.

        Args:
            asked: something else is asked; what a person did just now can still be read beside it.
        """
        if self._passing:
            self.pass_by()
        elif asked and self._text:
            self._until = min(self._until, self._least)
            self._grow_old()

    def _grow_old(self) -> None:
        if console_of(self.app).guard.now < self._until:
            return
        rows = self.size.height  # nothing moves below somebody's hands: that waits for the next key
        self._tell("", error=False, passing=False, then=None)
        self._rows = max(1, rows)
        self.refresh()

    def hint(self, text: str) -> None:
        """Show the usage of what is being typed instead, until it is empty again."""
        if text != self._hint:
            self._hint = text
            self.refresh(layout=True)

    def _content(self, width: int) -> Content:
        """Return what is shown, in a width in cells: a hint in one line, a message in as many as it takes."""
        room = max(1, width - 2)
        if self._hint:
            return Content.styled(" " + one_line(self._hint, room), "$text-muted")
        text = one_line(_("error: {text}").format(text=self.text) if self.error else self.text, _LONGEST)
        style = "bold $text-error" if self.error else "$text-warning" if self._passing else "$text-success"
        lines = Content.styled(text, style).wrap(room, overflow="fold") if text else []
        return Content("\n").join(Content(" ") + line for line in lines)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return max(self._rows, self._content(width).plain.count("\n") + 1)

    def render(self) -> RenderResult:
        found = self._content(self.size.width)
        kept = found.split("\n", allow_blank=True)[: max(1, self.size.height)]
        if found.plain.count("\n") < len(kept):
            return found
        return Content("\n").join([*kept[:-1], kept[-1].truncate(max(1, self.size.width - 2)) + "…"])
