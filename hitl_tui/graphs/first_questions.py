"""What a graph does before it asks for the first time: nothing but compute, where its source can be read so far.

Every way from its start is followed along plain edges, to nodes that surely ask; what leads elsewhere, or through
anything that isn't understood, makes the answer "nobody knows".
"""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

from langgraph.channels import BinaryOperatorAggregate, EphemeralValue, LastValue, Topic
from langgraph.constants import END, START
from langgraph.graph import StateGraph

from hitl_tui.graphs.asking_nodes import only_asks, surely_asks


class FirstQuestions(NamedTuple):
    """Where a graph asks first.

    Args:
        asking: the nodes that surely ask before it did anything but compute; none where nobody knows.
        computing: these, and the nodes before them.
    """

    asking: frozenset[str] = frozenset()
    computing: frozenset[str] = frozenset()


def first_questions(compiled: Any) -> FirstQuestions:
    """Return where a compiled graph asks first."""
    builder = getattr(compiled, "builder", None)
    if not isinstance(builder, StateGraph) or builder.waiting_edges or not all(map(_keeps, compiled.channels.values())):
        return FirstQuestions()
    asking, seen, ahead = set[str](), {START}, [START]
    while ahead:
        name = ahead.pop()
        if builder.branches.get(name):
            return FirstQuestions()
        for after in (end for start, end in builder.edges if start == name):
            node = compiled.nodes.get(after)
            if after == END or after in seen:
                continue
            seen.add(after)
            if surely_asks(node):
                asking.add(after)
            elif only_asks(node):
                ahead.append(after)
            else:
                return FirstQuestions()
    return FirstQuestions(frozenset(asking), frozenset(seen - {START}) if asking else frozenset())


def _keeps(channel: object) -> bool:
    """Return whether what is written into a channel is put there, or added: nobody's function puts it together."""
    if isinstance(channel, BinaryOperatorAggregate):
        return channel.operator is operator.add
    return isinstance(channel, LastValue | EphemeralValue | Topic)
