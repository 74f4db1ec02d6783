"""What a person meant, told by that person's script and the screen alone, and what the record holds.

A decision counts as the person's own when there was one key or click on an action that the script pressed by itself:
with the focus in the question, half a second after exactly that digest had come to stand on the screen, its end read,
no other character within a third of a second and no other key in the same burst. Of a text, of a paste, of a burst no
character ever is such a key. A command counts when one Enter, pressed by itself, sent it while that digest stood on the
screen. And the other way round: a key that was pressed so, by a person who then waited, has to be on record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.races_seen import Sight

PAUSE = 0.5
ALONE = 1 / 3
BURST = 0.03
AFTER_BURST = 0.1
"""Enter so long after the last key isn't the rest of what came with that."""
APPROVES = "/todo approve"
"""The one command of a race that decides; it approves what the screen shows."""
# What each place says, with the letters that lie on its key.
PLACES = {
    1: ("1aㅁ", {"approve", "retry", "use_as_done", "respond"}),
    2: ("2eㄷ", {"approve"}),
    3: ("3rㄱ", {"reject", "stop"}),
    4: ("4sㄴ", {"skip"}),
    5: ("5wㅈ", {"do_again", "respond"}),
    8: ("bㅠ", {"skip"}),
}
CONFIRMS = {"ConfirmDialog": "1yㅛ", "ReviewDialog": "1", "RuleDialog": "1"}
_SENT_FROM = {(3, "reject"): "WordsDialog", (8, "skip"): "WordsDialog", (2, "approve"): "EditDialog"}
"""Dialogs whose own keys send what a key of the question began."""
_REFUSES = {"reject", "stop", "skip"}


@dataclass
class Stood:
    """Since when the question on the screen is what it is; `None` while there is none."""

    sight: Sight = field(default_factory=Sight)
    since: float = 0.0
    read: float = 0.0
    """Since when its end was on the screen, too."""

    def saw(self, sight: Sight, at: float) -> None:
        """A frame was drawn."""
        if sight.digest != self.sight.digest:
            self.since = at
        if sight.digest != self.sight.digest or self.sight.more:
            self.read = at
        self.sight = sight


@dataclass(frozen=True)
class Pressed:
    """One key or click.

    Args:
        place: the action that it stands for, 0 for none.
        at: seconds.
        before: when the last key before it came.
        sight: what the screen showed.
        since: since when it showed that digest.
        dialog: what kind of dialog lay over the session; empty for none.
        opened: since when; with none, since the last one was closed.
        text: the person was writing a text, or this came in a burst; a character of it may stand alone when the
            machine was slow.
    """

    key: str
    place: int
    at: float
    before: float
    sight: Sight
    since: float
    dialog: str = ""
    opened: float = 0.0
    text: bool = False

    @property
    def types(self) -> bool:
        """It types a character."""
        return len(self.key) == 1 or self.key in ("space", "paste")

    def may(self, verdict: str, digest: str) -> str:
        """Return why this can't be what decided; empty when it can."""
        if self.dialog:
            return self._confirms()
        if self.place not in PLACES or verdict not in PLACES[self.place][1]:
            return "another key"
        if not self.sight.focused:
            return "the focus was elsewhere"
        if not self.sight.digest or (self.place != 2 and not digest.startswith(self.sight.digest)):
            return f"the screen showed {self.sight.digest or 'nothing'}"
        if self.at - self.since < PAUSE:
            return f"{self.at - self.since:.3f} s after it was drawn"
        if self.sight.more and verdict not in _REFUSES:
            return "its end had not been on the screen"
        return ""

    def _confirms(self) -> str:
        """A dialog that names what it does takes a key of its own, after the same pause."""
        if self.dialog not in CONFIRMS or self.key not in CONFIRMS[self.dialog]:
            return f"another key, in {self.dialog}"
        if self.at - self.opened < PAUSE:
            return f"{self.at - self.opened:.3f} s after {self.dialog} was drawn"
        return ""


@dataclass(frozen=True)
class Decided:
    """One decision as the ledger has it."""

    request: str
    verdict: str
    digest: str
    said: str = ""


def place_of(key: str) -> int:
    """Return the action that a key stands for in a question; 0 for none."""
    return next((number for number, (keys, __) in PLACES.items() if key in keys), 0)


def _hurried(key: Pressed, one: Decided, pressed: Sequence[Pressed]) -> bool:
    """Return whether the dialog that a key opened was sent though the keyboard never rested in it."""
    dialog = _SENT_FROM.get((key.place, one.verdict), "")
    within = [p for p in pressed if dialog and not key.dialog and p.dialog == dialog and p.at >= key.at]
    return bool(within) and not any(p.at - p.before >= PAUSE for p in within)


def _together(one: Pressed, pressed: Sequence[Pressed]) -> str:
    """Return what stood beside a key, so that it can't have been meant alone; empty for nothing."""
    if one.key.startswith("click"):
        return ""
    place = next(n for n, p in enumerate(pressed) if p is one)
    for other in (*pressed[:place][-1:], *pressed[place + 1 :][:1]):
        apart = abs(other.at - one.at)
        if apart < BURST and not other.key.startswith("click"):
            return f"{other.key!r} came with it"
        after_all = other.at >= one.at or other.sight.focused or other.dialog
        if apart < ALONE and other.types and len(one.key) == 1 and after_all:
            return f"{other.key!r} came {apart:.3f} s apart"
    return "it came in a burst" if one.text and len(one.key) > 1 else ""


def _sends(key: Pressed, one: Decided, pressed: Sequence[Pressed]) -> bool:
    """Return whether a key is an Enter by itself that can have sent the command to approve what was shown."""
    place = next(n for n, p in enumerate(pressed) if p is key)
    near = [p for p in pressed[place + 1 :][:1] if p.at - key.at < BURST]
    alone = key.key == "enter" and not key.text and not key.dialog and not near and key.at - key.before >= AFTER_BURST
    shown = bool(key.sight.digest) and one.digest.startswith(key.sight.digest)
    return alone and shown and not key.sight.focused and one.verdict == "approve"


def wrong(decided: Sequence[Decided], pressed: Sequence[Pressed], sent: Sequence[str] = ()) -> list[str]:
    """Return what nobody decided: each decision needs a key of its own, or a line that was sent.

    Args:
        sent: the lines that the prompt sent, as a plain model of it has them.
    """
    free, found = list(pressed), []
    commands = [line for line in sent if line == APPROVES]
    for one in decided:
        able = (p for p in free if not p.may(one.verdict, one.digest) and not _hurried(p, one, pressed))
        own = next((p for p in able if not _together(p, pressed)), None)
        if own is not None:
            if not own.dialog:  # a dialog may stand for several
                free.remove(own)
            continue
        enter = next((p for p in free if commands and _sends(p, one, pressed)), None)
        if enter is not None:
            free.remove(enter)
            commands.pop()
            continue
        whys = [(p, p.may(one.verdict, one.digest) or _together(p, pressed)) for p in free]
        near = [f"{p.key!r} at {p.at:.3f}: {why}" for p, why in whys if not why.startswith("another key")][-4:]
        found.append(f"{one.verdict} of {one.digest[:8]} without a key; near were {near or 'none'}")
    return found
