"""What the fields of a form take, in words: their names, types and limits. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hitl_tui.core.interrupts.field_text import STRING, field_kind
from hitl_tui.core.interrupts.json_schema import form_words
from hitl_tui.core.interrupts.shape import Action, Form, json_line, label_line
from hitl_tui.core.json_types import JsonObject, JsonSchema
from hitl_tui.core.safe_text import safe_text
from hitl_tui.language import _, mark
from hitl_tui.wording.rows import Row, joined, labelled

_EXPECTS = {
    "integer": mark("a whole number"),
    "number": mark("a number"),
    "boolean": mark("true or false"),
    "path": mark("a path in the workspace"),
    "texts": mark("texts, a comma between two"),
    "json": "JSON",
}
_LONGEST = 200
_ANSWER = "answer"


def expects_words(
    kind: str,
    choices: Sequence[str] = (),
    minimum: float | None = None,
    maximum: float | None = None,
    form: str = "",
) -> str:
    """Return what a field takes.

    Args:
        kind: as `field_text.field_kind` has it, or `path`.
        choices: what there is to choose from, in words.
        minimum: least number; None for none.
        maximum: greatest number; None for none.
        form: of a text, as JSON Schema calls it, such as `date`; empty for any.
    """
    words = _(_EXPECTS.get(kind, mark("text")))
    if choices:
        return _("one of ") + ", ".join(choices)
    if form and kind == STRING:
        return _("text of the form {form}").format(form=form_words(form))
    if minimum is not None and maximum is not None:
        return _("{words} from {minimum:g} to {maximum:g}").format(words=words, minimum=minimum, maximum=maximum)
    if minimum is not None:
        return _("{words} of {minimum:g} or more").format(words=words, minimum=minimum)
    return _("{words} of {maximum:g} or less").format(words=words, maximum=maximum) if maximum is not None else words


def hint_words(expects: str, *, required: bool) -> str:
    """Return what a field takes and whether it can stay empty, one safe line."""
    return safe_text(expects + (_(", needed") if required else ""), multiline=False, limit=_LONGEST)


def field_rows(action: Action) -> list[Row]:
    """Return a row for each field that an action wants, as its schema says; none where nothing is declared of it."""
    wants, schema = action.wants, action.wants.schema
    if schema is None:
        return []
    if wants.form is Form.VALUE:
        taken = _takes({"properties": {_ANSWER: schema}}, _ANSWER, {})
        return [labelled(f"  {_('takes')}", taken, "$text-muted")]
    present = wants.present if isinstance(wants.present, Mapping) else {}
    named = schema.get("properties") if wants.form is Form.FIELDS else None
    return [
        labelled(f"  {label_line(name)}", _takes(schema, name, present), "$text-muted")
        for name in (named if isinstance(named, Mapping) else ())
    ]


def _takes(schema: JsonSchema, name: str, present: JsonObject) -> str:
    """Return what a property takes, what stands in it at first, and what it is for: one safe line."""
    said = schema["properties"][name] or {}
    choices = [one if isinstance(one, str) else json_line(one) for one in said.get("enum") or ()]
    kind, form = field_kind(schema, name, present), str(said.get("format") or "")
    expects = expects_words(kind, choices, _limit(said, "minimum"), _limit(said, "maximum"), form)
    hint = hint_words(expects, required=name in schema.get("required", ()))
    now = _("{value} unless it is changed").format(value=json_line(present[name], _LONGEST)) if name in present else ""
    return joined(hint, now, safe_text(str(said.get("description", "")), multiline=False, limit=_LONGEST))


def _limit(said: JsonSchema, name: str) -> float | None:
    found = said.get(name)
    return found if isinstance(found, int | float) else None
