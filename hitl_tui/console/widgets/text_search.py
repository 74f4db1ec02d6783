"""Looking for words in a pane: they are typed in the pane itself, after `/`."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from textual.content import Content
from textual.events import Key, Paste
from textual.message import Message
from textual.widget import Widget

from hitl_tui.console.keyguard.key_targets import KeyScreen, SearchField
from hitl_tui.console.keymap import Keymap, keymap_of
from hitl_tui.console.keys import FINDING, KeySpec, of
from hitl_tui.core.safe_text import one_line, safe_text
from hitl_tui.core.text_comparison import lowered
from hitl_tui.language import _, mark

_LONGEST = 200
_SHOWN = 40
_ENDS = frozenset({"enter", "escape"})


class TextSearch:
    """What is looked for, and whether it is still being typed."""

    def __init__(self) -> None:
        self.text = ""
        self.typing = False

    @property
    def active(self) -> bool:
        """Something is looked for, or about to be."""
        return self.typing or bool(self.text)

    @property
    def needle(self) -> str:
        """What texts are compared with, as `lowered` gives them; empty for nothing."""
        return lowered(self.text)

    def begin(self) -> None:
        """Take what is typed from now on."""
        self.text, self.typing = "", True

    def forget(self) -> None:
        """Look for nothing."""
        self.text, self.typing = "", False

    def key(self, event: Key, keymap: Keymap, part: str) -> bool:
        """Take a key while words are typed, or the one that begins it; return whether it was taken.

        It begins here and not by its binding: bindings are looked up last, and what is typed fast comes before them.

        Args:
            event: the key.
            keymap: the keys as they work now.
            part: of the map, what the keys do in this pane.
        """
        if not self.typing:
            if keymap.at(part, event.key).endswith(".find"):
                self.begin()
            return self.typing
        wanted = keymap.at(FINDING, event.key)
        if wanted == "finding.keep":
            self.typing = False
        elif wanted == "finding.forget":
            self.forget()
        elif event.key in _ENDS:
            pass  # by habit, where the map has another key: the pane must not take it for its own
        elif event.key in ("backspace", "ctrl+h"):
            self.text = self.text[:-1]
        elif event.key == "ctrl+u":
            self.text = ""
        elif event.is_printable and event.character:
            self.paste(event.character)
        else:
            return False
        return True

    def paste(self, text: str) -> None:
        """Take text, the first line of it."""
        line = text.partition("\n")[0]
        self.text = (self.text + safe_text(line, multiline=False))[:_LONGEST]

    def shown(self, found: str) -> Content:
        """Return what the pane's frame says about it; `found` is how much was found, safe."""
        cursor = "▏" if self.typing else ""
        return Content.assemble(
            ("/", "bold $text-warning"),
            (f"{one_line(self.text, _SHOWN)}{cursor}", "bold $foreground"),
            (f" · {found}" if found else "", "$text-muted"),
        )


class SearchMatches:
    """The places that have the words, by number and in order, and the one that was gone to."""

    def __init__(self) -> None:
        self.places: list[int] = []
        self.current = -1

    def set(self, places: Iterable[int]) -> None:
        """Take other places; none was gone to yet."""
        self.places, self.current = list(places), -1

    def __contains__(self, number: int) -> bool:
        place = bisect_left(self.places, number)
        return place < len(self.places) and self.places[place] == number

    def beside(self, by: int) -> int:
        """Return the place after the current one, or before it if `by` is negative; past an end comes the other.

        There must be a place.
        """
        if by > 0:
            return self.places[bisect_right(self.places, self.current) % len(self.places)]
        return self.places[bisect_left(self.places, self.current) - 1]

    @property
    def words(self) -> str:
        """Which of how many the current one is."""
        if not self.places:
            return _("not found")
        return _("{n:,} of {total:,}").format(n=bisect_left(self.places, self.current) + 1, total=len(self.places))


class SearchInput(SearchField):
    """A pane that words are looked for in; another kind of widget comes first among its bases, and gives the looks."""

    finding: TextSearch

    class SearchChanged(Message):
        """A search was begun, kept or cleared, so other keys apply."""

    @abstractmethod
    def seek(self) -> None:
        """Show what has the words, and what is looked for."""

    @property
    def typing(self) -> bool:
        return self.finding.typing

    def action_find(self) -> None:
        """Begin to look for other words."""
        self.finding.begin()
        self.seek()
        self.post_message(self.SearchChanged())

    def on_key(self, event: Key) -> None:
        """Take what is typed while words are looked for."""
        self.key_arrived()
        keymap, screen = keymap_of(self.app), self.screen
        kept = self.finding.typing and keymap.at(FINDING, event.key) == "finding.keep"
        if kept and isinstance(screen, KeyScreen) and screen.typed_command(f"/{self.finding.text}"):
            event.stop()
            event.prevent_default()
            self.stop_finding()
        elif self.finding.key(event, keymap, self.PART):
            event.stop()
            event.prevent_default()
            self.seek()
            self.post_message(self.SearchChanged())

    def on_paste(self, event: Paste) -> None:
        """Take what is pasted while words are looked for."""
        if self.finding.typing:
            event.stop()
            self.finding.paste(event.text)
            self.seek()

    def stop_finding(self) -> bool:
        """Look for nothing any more; return whether anything was looked for."""
        if not self.finding.active:
            return False
        self.finding.forget()
        self.seek()
        self.post_message(self.SearchChanged())
        return True


def keys_for_search(pane: Widget | None, own: Sequence[KeySpec]) -> Sequence[KeySpec]:
    """Return the keys of a pane as they work while words are looked for in it.

    Args:
        pane: has the focus.
        own: its keys otherwise.
    """
    if not isinstance(pane, SearchInput) or not pane.finding.active:
        return own
    if pane.finding.typing:
        return of(FINDING)
    return [spec._replace(label=mark("clear search")) if spec.id.endswith(".leave") else spec for spec in own]
