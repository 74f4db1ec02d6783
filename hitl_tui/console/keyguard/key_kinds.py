"""What the keys of the map are to the guard, and what is said of those that did nothing."""

from __future__ import annotations

from textual.events import Key

from hitl_tui.console.keyguard.guard import BlockReason, KeyKind
from hitl_tui.console.keymap import Keymap
from hitl_tui.language import _, mark

_GUARDED = frozenset(
    {
        *(f"question.{name}" for name in (*range(1, 8), "skip_why", "results", "undo", "review")),
        *(f"plan.{name}" for name in ("approve", "skip", "undo", "take_back", "remove", "cancel", "priority")),
        *(f"part.{number}" for number in range(2, 6)),
        *(f"choosing.{number}" for number in range(1, 10)),
        "confirm.yes",
        "confirm.no",
        "quitting.yes",
        "quitting.no",
        "always.no",
        "reading.yes",
        "task.edit",
        "task.reject",
        "review.first",
        "rules.revoke",
        "rules.edit",
    }
)
"""Keys that decide, or begin something that may: the guard judges them. All others only look or move the cursor."""
_SENDS = frozenset({"form.send", "words.send", "say.send", "prompt.send"})
_COMMITS = frozenset({"form.approve", "choosing.send", "session.undo"})
_FREE = frozenset({"question.6", "question.results", "confirm.no", "quitting.no", "always.no"})
"""What decides nothing, so that a key without a character does it at once."""

_TOLD = {
    BlockReason.WORDS: mark("Read as text, so it went to the prompt; nothing was decided."),
    BlockReason.KEYS: mark("That key does nothing here."),
    BlockReason.BURST: mark("That arrived all at once, like a paste; nothing was decided."),
    BlockReason.LINES: mark("That arrived all at once, like a paste, so it wasn't sent; {prompt.send} sends it."),
    BlockReason.FOLLOWED: mark("Another key came right after it; nothing was decided."),
    BlockReason.GONE: mark("The question it was for is gone; nothing was decided."),
}
_NO_FIELD = mark("Read as text; nothing was decided.")


def kind_bound(event: Key, name: str) -> KeyKind:
    """Return what a key is that isn't typed into a field.

    Args:
        event: the key.
        name: id of its binding where the focus is; empty for none.
    """
    if event.is_printable:
        return KeyKind.DECIDES if name in _GUARDED else KeyKind.LOOKS if name else KeyKind.OTHER
    if name in _SENDS:
        return KeyKind.COMMANDS
    return KeyKind.COMMITS if name in _COMMITS or (name in _GUARDED and name not in _FREE) else KeyKind.OTHER


def told(why: BlockReason, keymap: Keymap, *, field: bool) -> str:
    """Return why a key did nothing, in a sentence.

    Args:
        why: the reason.
        keymap: names the keys.
        field: what was typed went into a text field.
    """
    return _(_NO_FIELD) if why is BlockReason.WORDS and not field else keymap.named(_(_TOLD[why]))
