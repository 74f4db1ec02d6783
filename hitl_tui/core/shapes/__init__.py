"""The forms of interrupts: what they ask, which answers fit, and what is sent for each (I2). Pure."""

from hitl_tui.core.shapes.model import Action, Detail, Form, Option, Shape, ShapeKind, Wants, said
from hitl_tui.core.shapes.recognise import recognise

__all__ = ["Action", "Detail", "Form", "Option", "Shape", "ShapeKind", "Wants", "recognise", "said"]
