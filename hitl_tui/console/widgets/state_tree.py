"""A JSON value as a tree that opens part by part."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from rich.text import Text
from textual.binding import BindingType
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from hitl_tui.console import keys
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.safe_text import one_line, safe_text
from hitl_tui.language import _, ngettext

MOST_CHILDREN = 500
"""Parts of one value that are listed; the rest is counted."""
_LONGEST = 2_000

Path = tuple[str, ...]


class StateTree(Tree[tuple[Path, Any]]):
    """Shows a state; what was open stays open when another one is shown.

    Args:
        id: widget id.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.MOVE, keys.TREE)]

    def __init__(self, id: str | None = None) -> None:
        super().__init__(Text("state"), data=((), {}), id=id)
        self._open: set[Path] = set()
        self._shown: Any = None
        self.show_root = False
        self.guide_depth = 2

    def show_value(self, value: JsonObject) -> None:
        """Show this state."""
        if value == self._shown:
            return
        self._shown = value
        line = self.cursor_line
        self.clear()
        self.root.data = ((), value)
        self._fill(self.root)
        self.root.expand()
        self.cursor_line = min(line, self.last_line)

    def _fill(self, node: TreeNode[tuple[Path, Any]]) -> None:
        if node.data is None or node.children:
            return
        path, value = node.data
        for number, (name, part) in enumerate(_parts(value)):
            if number >= MOST_CHILDREN:
                node.add_leaf(Text(_("… and {n:,} more").format(n=len(value) - MOST_CHILDREN)))
                return
            here = (*path, name)
            if isinstance(part, (Mapping, list, tuple)) and part:
                child = node.add(_label(name, part), data=(here, part))
                if here in self._open:
                    self._fill(child)
                    child.expand()
            else:
                node.add_leaf(_label(name, part), data=(here, part))

    def on_tree_node_expanded(self, event: Tree.NodeExpanded[tuple[Path, Any]]) -> None:
        event.stop()
        if event.node.data is not None:
            self._open.add(event.node.data[0])
            self._fill(event.node)

    def on_tree_node_collapsed(self, event: Tree.NodeCollapsed[tuple[Path, Any]]) -> None:
        event.stop()
        if event.node.data is not None:
            self._open.discard(event.node.data[0])


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        yield from ((str(k), v) for k, v in value.items())
    elif isinstance(value, Sequence) and not isinstance(value, str):
        yield from ((str(n), v) for n, v in enumerate(value))


def _label(name: str, value: Any) -> Text:
    """Return a safe line: the name, then a short value or how much is within."""
    shown = one_line(safe_text(name, multiline=False), 60)
    if isinstance(value, Mapping) and value:
        return Text.assemble(
            (shown, "bold"),
            ("  " + ngettext("{n:,} entry", "{n:,} entries", len(value)).format(n=len(value)), "dim"),
        )
    if isinstance(value, (list, tuple)) and value:
        return Text.assemble((shown, "bold"), ("  " + _("list of {n:,}").format(n=len(value)), "dim"))
    text = value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
    return Text.assemble((shown, "bold"), "  ", one_line(safe_text(text, multiline=False), _LONGEST))
