"""The forms of interrupts: what they ask, which answers fit, and what is sent for each. Pure."""

from hitl_tui.core.interrupts.recognition import recognise
from hitl_tui.core.interrupts.shape import Action, Detail, Form, Option, Shape, ShapeKind, Wants, said

__all__ = ["Action", "Detail", "Form", "Option", "Shape", "ShapeKind", "Wants", "recognise", "said"]
