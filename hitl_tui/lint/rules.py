"""The rules of safe interrupts. Ids are stable: a rule may be added, none changes its meaning (I6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hitl_tui.lint.model import Rule, Severity

_ERROR, _WARNING = Severity.ERROR, Severity.WARNING

_ALL: Final = (
    Rule(
        "HT001",
        "interrupt-caught",
        _ERROR,
        "interrupt() stops a node by raising, and something catches what it raises: the question is never asked.",
        "Take the interrupt out of the try, catch narrower errors, or re-raise GraphBubbleUp first.",
    ),
    Rule(
        "HT002",
        "conditional-interrupt",
        _WARNING,
        "Answers are matched to interrupts by their order, which may differ when the node runs again.",
        "Decide in a node before this one and route on it, or ask all questions in every run.",
    ),
    Rule(
        "HT003",
        "unordered-interrupts",
        _ERROR,
        "Answers are matched to interrupts by their order, and this order is not fixed.",
        "Iterate over a list in a fixed order (sorted(…)) that is kept in state, or ask in one node each with Send.",
    ),
    Rule(
        "HT004",
        "payload-not-json",
        _ERROR,
        "What is asked is stored and sent as JSON, and this is not JSON.",
        "Give plain values: str, int, float, bool, None, list, dict with text keys (isoformat(), list(…), asdict(…)).",
    ),
    Rule(
        "HT005",
        "uncertain-loop",
        _WARNING,
        "How many questions this loop asks may differ when the node runs again.",
        "Ask once about all of them, give each a run of a node with Send, or work the list out in an earlier node.",
    ),
    Rule(
        "HT006",
        "effect-before-interrupt",
        _ERROR,
        "A node runs again from its first line with each answer, so this happens again.",
        "Move it behind the interrupt or into a node or @task of its own; or make it idempotent and say so: "
        "# hitl: idempotent",
    ),
    Rule(
        "HT007",
        "effect-before-subgraph",
        _ERROR,
        "The calling node runs again from its first line when the graph it calls is answered, so this happens again.",
        "Move it behind the call or into a node of its own, or add the graph as a node; or say # hitl: idempotent",
    ),
    Rule(
        "HT008",
        "interrupting-tools-together",
        _ERROR,
        "One ToolNode runs the calls of a turn in one task: an answer to one tool runs the others again.",
        "Send each tool call to a run of its own (Send), or use create_agent, which does; or keep such tools apart.",
    ),
    Rule(
        "HT009",
        "task-order",
        _ERROR,
        "Results of tasks are kept by the order of their calls, and this order is not fixed.",
        "Call tasks in a fixed order (sorted(…)), decided by the input, by answers and by other tasks' results.",
    ),
    Rule(
        "HT010",
        "subgraph-reset",
        _WARNING,
        "The subgraph clears what it knew each time it is entered, and with it what people answered.",
        "Clear in the parent before the first call, or only when the discussion really begins.",
    ),
    Rule(
        "HT011",
        "checkpointer-off",
        _ERROR,
        "checkpointer=False keeps nothing, so an interrupt in this graph can never be answered.",
        "Leave checkpointer out: the console gives its own, and a subgraph takes its parent's.",
    ),
    Rule(
        "HT012",
        "shown-is-not-used",
        _ERROR,
        "This is worked out anew when the node runs again: what was shown and approved is not what is used.",
        "Work it out in a node or @task before this one, keep it in state, and show and use that.",
    ),
    Rule(
        "HT013",
        "wrong-exception",
        _WARNING,
        "InterruptedError is about system calls; interrupt() raises GraphInterrupt, which is nobody's to catch.",
        "Remove it; to go on after a refusal look at the answer that interrupt() returns.",
    ),
    Rule(
        "HT014",
        "answer-executed",
        _ERROR,
        "What someone typed as an answer is executed as code, as a command or as SQL.",
        "Compare the answer with what is allowed, and pass it as an argument or a bound parameter.",
    ),
    Rule(
        "HT015",
        "interrupt-elsewhere",
        _ERROR,
        "interrupt() needs the context of its node, and a thread of a pool doesn't have it.",
        "Ask in the node itself, or use asyncio.to_thread, which takes the context along.",
    ),
)

RULES: Final[Mapping[str, Rule]] = {rule.id: rule for rule in _ALL}
"""Every rule by id."""
