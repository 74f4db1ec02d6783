"""What a team asks from inside a step, as it is shown: who asks, what, and everything it is about. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from hitl_tui.core.interrupts.shape import Shape, ShapeKind, json_line, label_line, said_as, same
from hitl_tui.core.json_types import Json, JsonObject
from hitl_tui.core.safe_text import safe_text
from hitl_tui.language import mark, safe_message, translate
from hitl_tui.terminal.ascii_signs import _, signs
from hitl_tui.wording.form_rows import field_rows
from hitl_tui.wording.rows import Row, in_line, labelled, quoted_row, text_row
from hitl_tui.wording.subject_rows import own_label, value_row, value_text

if TYPE_CHECKING:
    from hitl_tui.supervisor.snapshot import Question

_OURS = (
    ShapeKind.TOOL_APPROVAL,
    ShapeKind.TOOL_BATCH,
    ShapeKind.AGENT_INBOX,
    ShapeKind.BREAKPOINT,
    ShapeKind.OTHER,
)
"""Forms whose question isn't the graph's own sentence."""
CALLS = (ShapeKind.TOOL_APPROVAL, ShapeKind.TOOL_BATCH, ShapeKind.AGENT_INBOX)
"""Forms that ask about calls of tools."""
_OWN = (
    *(
        mark("asks"),
        mark("asked by"),
        mark("from"),
        mark("note"),
        mark("again"),
        mark("option"),
        mark("digest"),
        mark("until"),
    ),
    *(mark("so far"), mark("needs"), mark("NOTE"), mark("BLOCKED"), mark("CHANGED"), mark("MISSING")),
    *(mark("RAN BEFORE"), mark("Answer with")),
)
"""What our own rows of a question are called: a name in it that reads the same stands in quotation marks."""
_MOST = 200_000
"""Characters of one value on the screen; the rest is in the details and in the record."""


def asked(shape: Shape) -> str:
    """Return the question in one safe line."""
    return translate(shape.question) if shape.kind in _OURS else shape.question


def who_asks(question: Question) -> str:
    """Return who asks: the team, and the nodes on the way to where it stopped; one safe line."""
    subject = question.view.request.subject
    path = [str(node) for node in subject.get("path", ()) if node]
    return signs(" › ").join(map(in_line, [question.view.request.source.removesuffix("_team"), *path]))


def inner_rows(shape: Shape) -> Iterable[Row]:
    """Return what has to be read before it is answered."""
    if shape.kind not in CALLS or shape.parts:  # that one call may run is what the title asks
        yield labelled(_("asks"), asked(shape), "bold")
    yield from detail_rows(shape)
    for note in shape.notes:
        yield labelled(_("note"), translate(note), "bold $text-warning")


def again_rows(question: Question) -> Iterable[Row]:
    """Return what runs again once it is answered."""
    if again := [safe_message(line, multiline=False) for line in question.again]:
        yield labelled(_("again"), "\n".join(again), "$text-muted")


def detail_rows(shape: Shape) -> list[Row]:
    """Return everything that a question is about, whole; what an agent says of it stands apart."""
    rows = []
    for detail in shape.details:
        if detail.claim:
            rows.append(text_row(_("── the agent says; nobody has checked it ──"), "$text-muted"))
            rows.append(quoted_row(shown_value(detail.value), "italic $text-muted"))
        else:
            rows.append(value_row(_label(shape, detail.label), detail.value, shown_value(detail.value)))
    return rows


def _label(shape: Shape, label: str) -> str:
    """Return what a detail is called: a field's own name, or what we call the tool and the options."""
    number, __, name = label.rpartition(" ")
    if name == "tool" and shape.kind in _OURS:
        return _("{number} tool").format(number=number) if number.isdigit() else _("tool") if not number else label
    if number == "option" and name.isdigit():
        return _("option")  # without its number: the digits are keys, which do something else here
    return f'"{label}"' if label in {_(own) for own in _OWN} else own_label(label)


def answer_rows(shape: Shape) -> list[Row]:
    """Return what each answer means and takes, and why one isn't possible."""
    rows = []
    for action in shape.actions:
        said = action.why_not or action.meaning or action.wants.hint
        if said:
            shown = safe_message(said, multiline=False)
            rows.append(labelled(translate(action.label), shown, "$text-muted" if action.why_not else ""))
        if not action.why_not:
            rows += field_rows(action)
    return rows


def shown_value(value: Json) -> str:
    """Return a JSON value whole, as `value_text` does; beyond 200,000 characters it says how much more there is."""
    try:
        return _cut(value_text(value))
    except (ValueError, TypeError, RecursionError):
        return _("(a value that can't be shown)")


def said_words(value: Json) -> str:
    """Return what is sent and as what type: `the number 30`, `the text "30"`; one safe line."""
    return translate(said_as(value, json_line(value)))


def said_whole(value: Json) -> str:
    """Return what is sent and as what type, whole: as `said_words` does, of whatever length."""
    try:
        return translate(said_as(value, _cut(safe_text(json.dumps(value, ensure_ascii=False), multiline=False))))
    except (ValueError, TypeError, RecursionError):
        return said_words(value)


def _cut(text: str) -> str:
    if len(text) <= _MOST:
        return text
    return text[:_MOST] + "\n" + _("… {n:,} more characters").format(n=len(text) - _MOST)


def payload_rows(values: JsonObject, before: JsonObject | None = None) -> list[Row]:
    """Return fields that would be sent; what differs from before is marked and comes first."""
    known = before or {}
    changed = [n for n in values if before is not None and not (n in known and same(known[n], values[n]))]
    rows = []
    for name in sorted(values, key=lambda n: n not in changed):
        label = label_line(name)
        style, shown = ("bold", f"* {label}") if name in changed else ("", label)
        rows.append(labelled(shown, shown_value(values[name]), style, exact=True))
    gone = [name for name in before or {} if name not in values]
    rows += [labelled(label_line(name), _("left out"), "$text-warning") for name in gone]
    return rows or [text_row(_("nothing"), "$text-muted")]
