"""The rules of safe interrupts. Ids are stable: a rule may be added, none changes its meaning (I6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hitl_tui.core.messages import Message
from hitl_tui.lint.findings import Rule, Severity

_ERROR, _WARNING = Severity.ERROR, Severity.WARNING

_ALL: Final = (
    Rule(
        "HT001",
        "interrupt-caught",
        _ERROR,
        "A question within something that catches what it raises",
        Message(
            "interrupt() stops a node by raising, and something catches what it raises: the question is never asked."
        ),
        Message("Take the interrupt out of the try, catch narrower errors, or re-raise GraphBubbleUp first."),
    ),
    Rule(
        "HT002",
        "conditional-interrupt",
        _WARNING,
        "A question that is asked in one run of a node and perhaps not in the next",
        Message("Answers are matched to interrupts by their order, which may differ when the node runs again."),
        Message("Decide in a node before this one and route on it, or ask all questions in every run."),
    ),
    Rule(
        "HT003",
        "unordered-interrupts",
        _ERROR,
        "Questions in an order that isn't fixed",
        Message("Answers are matched to interrupts by their order, and this order is not fixed."),
        Message(
            "Iterate over a list in a fixed order (sorted(…)) that is kept in state, or ask in one node each with Send."
        ),
    ),
    Rule(
        "HT004",
        "payload-not-json",
        _ERROR,
        "A question that JSON has no form for",
        Message("What is asked is stored and sent as JSON, and this is not JSON."),
        Message(
            "Give plain values: str, int, float, bool, None, list, dict with text keys (isoformat(), list(…), "
            "asdict(…))."
        ),
    ),
    Rule(
        "HT005",
        "uncertain-loop",
        _WARNING,
        "A loop that may ask more or fewer questions in another run",
        Message("How many questions this loop asks may differ when the node runs again."),
        Message(
            "Ask once about all of them, give each a run of a node with Send, or work the list out in an earlier node."
        ),
    ),
    Rule(
        "HT006",
        "effect-before-interrupt",
        _ERROR,
        "An effect on the world before a question",
        Message("A node runs again from its first line with each answer, so this happens again."),
        Message(
            "Move it behind the interrupt or into a node or @task of its own; or make it idempotent and say "
            "so: # hitl: idempotent"
        ),
    ),
    Rule(
        "HT007",
        "effect-before-subgraph",
        _ERROR,
        "An effect on the world before a graph is called that asks",
        Message(
            "The calling node runs again from its first line when the graph it calls is answered, so this "
            "happens again."
        ),
        Message(
            "Move it behind the call or into a node of its own, or add the graph as a node; or say # hitl: idempotent"
        ),
    ),
    Rule(
        "HT008",
        "interrupting-tools-together",
        _ERROR,
        "Tools in one ToolNode of which one asks",
        Message("One ToolNode runs the calls of a turn in one task: an answer to one tool runs the others again."),
        Message(
            "Send each tool call to a run of its own (Send), or use create_agent, which does; or keep such tools apart."
        ),
    ),
    Rule(
        "HT009",
        "task-order",
        _ERROR,
        "Tasks in an order that isn't fixed",
        Message("Results of tasks are kept by the order of their calls, and this order is not fixed."),
        Message(
            "Call tasks in a fixed order (sorted(…)), decided by the input, by answers and by other tasks' results."
        ),
    ),
    Rule(
        "HT010",
        "subgraph-reset",
        _WARNING,
        "A subgraph that forgets when it is entered again",
        Message("The subgraph clears what it knew each time it is entered, and with it what people answered."),
        Message("Clear in the parent before the first call, or only when the discussion really begins."),
    ),
    Rule(
        "HT011",
        "checkpointer-off",
        _ERROR,
        "A graph that asks and has its checkpointer off",
        Message("checkpointer=False keeps nothing, so an interrupt in this graph can never be answered."),
        Message("Leave checkpointer out: the console gives its own, and a subgraph takes its parent's."),
    ),
    Rule(
        "HT012",
        "shown-is-not-used",
        _ERROR,
        "What is shown in a question isn't what is used afterwards",
        Message("This is worked out anew when the node runs again: what was shown and approved is not what is used."),
        Message("Work it out in a node or @task before this one, keep it in state, and show and use that."),
    ),
    Rule(
        "HT013",
        "wrong-exception",
        _WARNING,
        "InterruptedError instead of GraphInterrupt",
        Message(
            "InterruptedError is about system calls; interrupt() raises GraphInterrupt, which is nobody's to catch."
        ),
        Message("Remove it; to go on after a refusal look at the answer that interrupt() returns."),
    ),
    Rule(
        "HT014",
        "answer-executed",
        _ERROR,
        "An answer that is executed",
        Message("What someone typed as an answer is executed as code, as a command or as SQL."),
        Message("Compare the answer with what is allowed, and pass it as an argument or a bound parameter."),
    ),
    Rule(
        "HT015",
        "interrupt-elsewhere",
        _ERROR,
        "A question from a thread of a pool",
        Message("interrupt() needs the context of its node, and a thread of a pool doesn't have it."),
        Message("Ask in the node itself, or use asyncio.to_thread, which takes the context along."),
    ),
    Rule(
        "HT016",
        "subgraph-apart",
        _ERROR,
        "A graph that asks and is called as another thread",
        Message(
            "A thread_id of its own cuts the graph off from the node that calls it: its questions reach "
            "nobody, and the node goes on without an answer."
        ),
        Message("Leave thread_id out, or pass the config that the node was given; or add the graph as a node."),
    ),
)

RULES: Final[Mapping[str, Rule]] = {rule.id: rule for rule in _ALL}
"""Every rule by id."""
