"""Looking for words in a pane: they are typed in the pane itself, after `/`."""

from __future__ import annotations

from textual.content import Content
from textual.events import Key

from hitl_tui.core.safe_text import one_line, safe_text

_LONGEST = 200
_SHOWN = 40


class Finding:
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

    def key(self, event: Key, binding: str) -> bool:
        """Take a key while words are typed, or the one that begins it; return whether it was taken.

        It begins here and not by its binding: bindings are looked up last, and what is typed fast comes before them.

        Args:
            event: the key.
            binding: id of what the key does in this pane; empty for nothing.
        """
        if not self.typing:
            if binding.endswith(".find"):
                self.begin()
            return self.typing
        if event.key == "enter":
            self.typing = False
        elif event.key == "escape":
            self.forget()
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


def lowered(text: str) -> str:
    """Return text for comparing without regard to case, character by character, so that places stay the same."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
