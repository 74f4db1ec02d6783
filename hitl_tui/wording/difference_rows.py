"""What differs between two moments of a session, as rows. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from hitl_tui.language import mark
from hitl_tui.terminal.ascii_signs import _, ngettext, signs
from hitl_tui.threads.session_diff import Difference, ResultChange, TodoChange
from hitl_tui.threads.state_diff import ABSENT, ValueChange, from_difference, lines_apart
from hitl_tui.wording.rows import SHORT, Row, in_line, labelled, short, shortened, styled, text_row, written
from hitl_tui.wording.status_words import approval_words, number_of, status_words
from hitl_tui.wording.times import mode_words

MOST_ROWS = 200
"""TODOs, values or results listed of one difference; the rest is counted."""
_EACH = 60
"""Characters up to which a value that differs is shown from its beginning."""
_PARTS: Mapping[str, str] = {
    "asked": mark("asked anew"),
    "error": mark("another error"),
    "name": mark("another name"),
    "question": mark("another question"),
    "ran_before": mark("ran before"),
    "risk": mark("another risk"),
}
"""What changed in a TODO, in words, where nothing else tells it."""
_MODE = ("control", "mode")
_TOLD = (_MODE, ("query",), ("session_id",))
"""What of a session's state operators know; plan and results are told apart, the rest is the engine's."""


def difference_rows(found: Difference, texts: Mapping[str, Sequence[str]], folded: str = "") -> list[Row]:
    """Return a difference: TODOs, results, then the rest of the state, each with a glyph and a word.

    Args:
        found: the difference.
        texts: how results changed line by line, by TODO id (empty for the final answer), where that is known.
        folded: how the key reads that shows the engine's own values; empty to show them.
    """
    if not found:
        return [text_row(_("Nothing differs: not the plan, no result, nothing else in the state."))]
    added, removed = (sum(1 for c in found.todos if getattr(c, side) is None) for side in ("before", "after"))
    counts = _("{added} added, {removed} removed, {n} changed").format(
        added=added, removed=removed, n=len(found.todos) - added - removed
    )
    rows = [text_row(_("Steps · {counts}").format(counts=counts) if found.todos else _("Steps · the same"), "bold")]
    for change in found.todos[:MOST_ROWS]:
        rows += _todo_rows(change)
    rows += [*more_rows(len(found.todos)), text_row("")]
    rows.append(text_row(_("Results") if found.results else _("Results · the same"), "bold"))
    for result in found.results[:MOST_ROWS]:
        rows += _result_rows(result, texts.get(result.todo_id, ()))
    rows += [*more_rows(len(found.results)), text_row("")]
    rows.append(text_row(_("State") if found.state else _("State · the same"), "bold"))
    shown = [value for value in found.state if not folded or value.path in _TOLD]
    rows += value_rows([_in_words(value) for value in shown])
    if hidden := len(found.state) - len(shown):
        said = ngettext(
            "{n} internal value · {key} shows it",
            "{n} internal values · {key} shows them",
            hidden,
        )
        rows.append(text_row(said.format(n=hidden, key=folded), "$text-muted"))
    return rows


def _in_words(value: ValueChange) -> ValueChange:
    """Return a change of the mode in the words that operators know; any other as it is."""
    if value.path != _MODE:
        return value
    before, after = (mode_words(str(v)) if v is not ABSENT else v for v in (value.before, value.after))
    return replace(value, path=(_("mode"),), before=before, after=after)


def more_rows(count: int, most: int = MOST_ROWS) -> list[Row]:
    """Return the row that says how many of so many are left out; none where all are shown."""
    return [text_row(_("… and {n:,} more").format(n=count - most), "$text-muted")] if count > most else []


def glyph_of(change: TodoChange) -> str:
    """Return `+` for a TODO that is new, `-` for one that is gone, else `~`."""
    return "+" if change.before is None else "-" if change.after is None else "~"


def change_words(change: TodoChange) -> str:
    """Return how a TODO changed, in words."""
    glyph, word, __ = status_words(change.todo)
    if change.before is None or change.after is None:
        how = _("added") if change.before is None else _("removed")
        return f"{how}: {in_line(change.todo.agent_name)} · {in_line(change.todo.name)} · {glyph} {word}"
    old, new = status_words(change.before), status_words(change.after)
    parts = [f"{old[0]} {old[1]} → {new[0]} {new[1]}"] if old != new else []
    parts += [_("input edited")] if change.edited else []
    parts += [_("moved in the order") if any(v.path == ("rank",) for v in change.moved) else ""]
    if change.approved is not None:
        approval = change.after.approval
        how = "" if new[1] == _("approved") else _("approved") + " "
        parts.append(_("no longer approved") if approval is None else how + approval_words(approval))
    if not any(parts):
        parts = [", ".join(dict.fromkeys(_part_words(v) for v in change.values))]
    return " · ".join(p for p in parts if p)


def _part_words(value: ValueChange) -> str:
    path = value.path[1:] if value.path[0] == "metadata" and len(value.path) > 1 else value.path
    return _(_PARTS[path[0]]) if path[0] in _PARTS else in_line(value.path[-1]).replace("_", " ")


def _todo_rows(change: TodoChange) -> Iterator[Row]:
    mark, colour = glyph_of(change), {"+": "$text-success", "-": "$text-error", "~": ""}[glyph_of(change)]
    yield labelled(f"{mark} {number_of(change.todo.id)}", change_words(change), colour)
    shown = [*change.edited, *(v for v in change.moved if v.path != ("rank",))]
    shown += [v for v in change.values if v.path[0] in ("error", "name")]
    for value in shown:
        yield value_row(value, "  ")


def value_rows(values: Sequence[ValueChange]) -> list[Row]:
    """Return changed values, a row each; beyond `MOST_ROWS` they are counted."""
    return [value_row(value) for value in values[:MOST_ROWS]] + more_rows(len(values))


def value_row(value: ValueChange, indent: str = "") -> Row:
    """Return how a value differs, with a glyph: put in, taken away, another one."""
    name = in_line(value.name)
    if value.before is ABSENT:
        return text_row(f"{indent}+ {name}: {short(value.after)}", "$text-success")
    if value.after is ABSENT:
        return text_row(f"{indent}- {name}: {short(value.before)}", "$text-error")
    if lines := lines_apart(value.before, value.after, SHORT):
        return text_row("\n".join([f"{indent}~ {name}:", *(f"{indent}  {shortened(line)}" for line in lines)]))
    old, new = from_difference(written(value.before), written(value.after), _EACH)
    return text_row(f"{indent}~ {name}: {shortened(old)}{signs(' → ')}{shortened(new)}")


def _result_rows(change: ResultChange, lines: Sequence[str]) -> Iterator[Row]:
    name = number_of(change.todo_id) if change.todo_id else _("answer")
    old, new = ((str(r.get("summary", "")) or _("a result")) if r else "" for r in (change.before, change.after))
    if change.before is None:
        yield labelled(f"+ {name}", short(new), "$text-success")
    elif change.after is None:
        yield labelled(f"- {name}", _("none now; it was: {old}").format(old=short(old)), "$text-error")
    else:
        yield labelled(
            f"~ {name}",
            f"{short(old)} → {short(new)}" if old != new else _("another text: {new}").format(new=short(new)),
        )
    colours = {"+": "$text-success", "-": "$text-error"}
    for line in lines[:MOST_ROWS]:
        yield Row("", styled(f"    {in_line(line)}", colours.get(line[:1], "$text-muted")), exact=True)
    yield from more_rows(len(lines))
