"""A form as scripts read it, and the exact commands that answer it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hitl_tui.core.shapes.model import EACH, Action, Form, Shape, ShapeKind


def commands_of(shape: Shape, name: str) -> dict[str, str]:
    """Return the chat command for each possible action, by the action's name.

    Args:
        shape: the form.
        name: what commands call the request.
    """
    lone = len(shape.actions) == 1 and shape.actions[0].wants.form in (Form.VALUE, Form.OPTIONS)
    return {a.name: f"/answer {name} {_tail(shape, a, lone=lone)}" for a in shape.actions if not a.why_not}


def _tail(shape: Shape, action: Action, *, lone: bool) -> str:
    form = action.wants.form
    if action.name == EACH:
        return " ".join(f"{number} DECISION" for number in range(1, min(len(shape.parts), 3) + 1)) + (
            " …" if len(shape.parts) > 3 else ""
        )
    if lone:
        return "OPTION" if form is Form.OPTIONS else "VALUE"
    if form is Form.TEXT:
        return f"{action.name} TEXT" if action.wants.required else f"{action.name} [TEXT]"
    needs = {Form.FIELDS: "NAME=VALUE…", Form.OPTIONS: "OPTION", Form.VALUE: "VALUE"}.get(form, "")
    if shape.kind is ShapeKind.YES_NO and form is Form.NONE:
        return {"approve": "yes", "reject": "no"}[action.name]
    return f"{action.name} {needs}".strip()


def shape_document(shape: Shape) -> dict[str, Any]:
    """Return a form as JSON: `shape`, `question`, `actions`, `schema`, `risk`, `notes`, and the `parts` of a batch."""
    return {
        "shape": shape.kind.value,
        "asks": shape.question,
        "actions": [_action(a) for a in shape.actions],
        "schema": shape.schema,
        "risk": shape.risk,
        "notes": list(shape.notes),
        **({"parts": [shape_document(part) for part in shape.parts]} if shape.parts else {}),
    }


def _action(action: Action) -> dict[str, Any]:
    wants = action.wants
    found: dict[str, Any] = {
        "name": action.name,
        "label": action.label,
        "allowed": not action.why_not,
        "wants": wants.form.value,
    }
    if action.why_not:
        found["why_not"] = action.why_not
    if action.meaning:
        found["meaning"] = action.meaning
    if wants.schema is not None:
        found["schema"] = _plain(wants.schema)
    if wants.present is not None:
        found["present"] = wants.present
    if wants.options:
        found["options"] = [{"text": o.text, "value": o.value} for o in wants.options]
    return found


def _plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in schema.items() if k not in ("$defs", "definitions")}
