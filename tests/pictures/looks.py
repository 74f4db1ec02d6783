"""What has to hold for what is drawn, whatever the screen: nothing that can be done is cut, and every word is ours."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from screens import english
from stage import Drawn, Shown
from textual.content import Content
from textual.geometry import Region
from textual.widget import Widget
from textual.widgets import Button, OptionList, Static

from hitl_tui.console.answer_actions import NO_KEY
from hitl_tui.console.widgets.action_bar import Place, ReplayAction
from hitl_tui.console.widgets.bars import HeaderBar, KeyLine, MessageLine
from hitl_tui.console.widgets.panes import Tab
from hitl_tui.console.widgets.question_panel import QuestionPanel

_BORDERS = frozenset("│┃")
_CORNERS = frozenset("╭╮╰╯┏┓┗┛")
_NO_WORD = re.compile(r"\\\\n|\\n|\w+…")
_HANGUL = re.compile("[가-힣]")


def box(seen: Shown) -> Region:
    """Return what belongs to the screen itself: a dialog's own box, else everything."""
    found = [widget.region for widget in seen.app.screen.query(".dialog")]
    return found[-1] if found else Region(0, 0, *seen.app.size)


def problems(seen: Shown, language: str, known: frozenset[str]) -> list[str]:
    """Return what is wrong with a screen as it is drawn now, one sentence each."""
    drawn = seen.drawn()
    found = [*_cut(seen, drawn), *_titles(seen), *_frames(seen, drawn), *_header(seen, drawn)]
    lines = drawn.rows(box(seen))
    if language == "ko":
        found += [f"not Korean: {word}" for word in english((_NO_WORD.sub(" ", line) for line in lines), known)]
        if not any(_HANGUL.search(line) for line in lines):
            found.append("no Korean word at all")
    else:
        found += [f"not English: {line.strip()!r}" for line in lines if _HANGUL.search(line)]
    return found


def _labels(seen: Shown) -> Iterator[tuple[Widget, str]]:
    """Yield what can be done on a screen: the widget, and what it has to say in whole."""
    screen = seen.app.screen
    for panel in screen.query(QuestionPanel):
        if panel.question is not None and panel.display:
            for answer in panel.offered(panel.question):
                place = panel.query_one(f"#place-{answer.number}", Place)
                if place.region.width or not answer.why_not:  # what isn't possible gives way where there is little room
                    yield place, NO_KEY if answer.why_not else f"{answer.number} {answer.label}"
    for kind in (ReplayAction, Tab):
        for action in screen.query(kind):
            if action.is_on_screen and action.display:
                yield action, str(action.render()).strip()
    for button in screen.query(Button):
        yield button, str(button.label).strip()
    for line in screen.query(Static):
        if {"dialog-keys", "dialog-label"} & line.classes or line.id == "field-hint":
            yield line, str(line.render()).strip()
    for bar in screen.query(MessageLine):
        if bar.text:
            yield bar, bar.text
    for choices in screen.query(OptionList):
        if choices.id == "starters":
            for option in choices.options:
                yield choices, str(option.prompt).strip().split("\n")[0]


def _cut(seen: Shown, drawn: Drawn) -> Iterator[str]:
    for widget, label in _labels(seen):
        if not any(parent.display is False for parent in (widget, *widget.ancestors) if isinstance(parent, Widget)):
            lines = drawn.rows(widget.region)
            if squeezed([label]) not in squeezed(lines):
                yield f"cut: {label!r} is drawn as {' / '.join(line.strip() for line in lines)!r}"


def _titles(seen: Shown) -> Iterator[str]:
    """A frame has room for its titles."""
    for widget in seen.app.screen.query("*"):
        if widget.region.area and widget.display and widget.styles.has_rule("border_top") and widget.is_on_screen:
            for title in (widget.border_title, widget.border_subtitle):
                text = Content.from_markup(title) if title else Content("")
                if text.cell_length > widget.region.width - 4:
                    yield f"the title {text.plain!r} has no room"


def _frames(seen: Shown, drawn: Drawn) -> Iterator[str]:
    """Whatever has a frame has all of it."""
    for widget in _framed(seen):
        region = widget.region
        for name, x, y in (
            ("left upper", region.x, region.y),
            ("right upper", region.right - 1, region.y),
            ("left lower", region.x, region.bottom - 1),
            ("right lower", region.right - 1, region.bottom - 1),
        ):
            sign = drawn.sign(x, y)
            if sign not in _CORNERS:
                yield f"the {name} corner of {widget!r} is {sign!r}"
        for y in range(region.y + 1, region.bottom - 1):
            for x in (region.x, region.right - 1):
                sign = drawn.sign(x, y)
                if sign not in _BORDERS:
                    yield f"the edge of {widget!r} in row {y} is {sign!r}"


def _framed(seen: Shown) -> Iterator[Widget]:
    whole = Region(0, 0, *seen.app.size)
    dialogs = list(seen.app.screen.query(".dialog"))
    for widget in dialogs or seen.app.screen.query("*"):
        kind = widget.styles.border_left[0]
        if kind in ("round", "heavy") and widget.region.area and widget.display and widget.is_on_screen:
            assert whole.contains_region(widget.region), f"{widget!r} at {widget.region}"
            yield widget


def _header(seen: Shown, drawn: Drawn) -> Iterator[str]:
    for bar in seen.app.screen.query(HeaderBar):
        text = "".join(drawn.rows(bar.region))
        for said in (bar.status, bar.mode):
            if said and said not in text:
                yield f"the header doesn't say {said!r}"
    for line in seen.app.screen.query(KeyLine):
        text = "".join(drawn.rows(line.region))
        if "F1" not in text and any(name == "console.help" for name, __, __ in line.keys):
            yield f"the keys don't name the help: {text!r}"


async def unreadable(seen: Shown) -> list[str]:
    """Read a question to its end with its keys; return what would run and was never on the screen."""
    panels = list(seen.app.screen.query(QuestionPanel))
    if not panels or not seen.runs:
        return []
    panel, pages = panels[0], ""
    body = panel.query_one("#question-body")
    panel.focus()
    for _ in range(60):
        await seen.pilot.pause()
        pages += squeezed(seen.drawn().rows(body.region))
        if panel.read:
            break
        await seen.pilot.press("pagedown")
    else:
        return ["its end can't be reached"]
    body.scroll_home(animate=False)
    return [f"never on the screen: {text!r}" for text in seen.runs if squeezed([text]) not in pages]


def squeezed(lines: Iterable[str]) -> str:
    """Return text without its spaces, its frame and its scroll bar: what is left is what is read."""
    return re.sub(r"[\s│▁▂▃▄▅▆▇█▔]", "", "".join(lines))


def describe(found: dict[str, list[str]]) -> str:
    """Return problems as a list to be read."""
    return "\n".join(f"{where}\n  " + "\n  ".join(what) for where, what in found.items())
