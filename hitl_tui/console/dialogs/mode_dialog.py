"""The choice of a mode: one list wherever it is asked for, with what each of them would let run at once."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from textual.content import Content

from hitl_tui.console.dialogs.answer_dialog import Picking
from hitl_tui.core.interrupts.shape import Option
from hitl_tui.language import _, ngettext
from hitl_tui.wording.times import MODE_ORDER, MODES, mode_words


class ModeDialog(Picking):
    """Lists the modes, the one that holds at the cursor; dismissed with the one that is chosen.

    Args:
        now: the mode that holds; any other text where none is known.
        said: what the choice is about, safe.
        freed: how many steps each mode would let run without a question.
    """

    def __init__(self, now: str, said: str, freed: Mapping[str, int] = MappingProxyType({})) -> None:
        options = tuple(Option(_labelled(mode, now, freed.get(mode, 0)), mode) for mode in MODES)
        super().__init__(_("Mode"), Content(said), options, at=MODE_ORDER.index(now) if now in MODES else 0)


def _labelled(mode: str, now: str, freed: int) -> str:
    notes = [_("now")] if mode == now else []
    if freed:
        notes.append(ngettext("{n} runs without a question", "{n} run without a question", freed).format(n=freed))
    return " · ".join([mode_words(mode), *notes])
