"""What may follow from a result (D14): a search that found too little leads to a broader one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hitl_tui.core.todos import SupervisorTodo
from hitl_tui.planning.broader import broader_query, has_it_all, lacks_the_point
from hitl_tui.planning.proposals import AddStep, Proposed
from hitl_tui.planning.reading import language_of, shown
from hitl_tui.planning.ruleset import Need
from hitl_tui.planning.scene import Scene, fed_by
from hitl_tui.planning.steps import find_step

FOLLOW_UP_OF = "follow_up_of"


def hits_of(result: Mapping[str, Any]) -> int | None:
    """Return how many passages a search found; None when its result doesn't say, or nothing could be searched."""
    data = result.get("data")
    if isinstance(data, Mapping):
        if data.get("searched") == 0:
            return None
        hits = data.get("hits")
        if isinstance(hits, int) and not isinstance(hits, bool):
            return hits
        if isinstance(data.get("passages"), list):
            return len(data["passages"])
    return 0 if result.get("found") is False else None


def follow_up_search(scene: Scene, todo: SupervisorTodo, result: Mapping[str, Any]) -> Proposed | None:
    """Propose a broader search after one that found too little, once per TODO and never after a follow-up.

    It is proposed only where it can help: the words are there, but not together. Where a word that makes the question
    specific stands in no document, nothing found is the answer, and other passages would be noise; and where a
    passage has all the words, that is the answer.

    Args:
        scene: the session's plan; its text is the query.
        todo: the TODO that ended.
        result: its `TeamResult` as a dict; `data.hits` (or `data.passages`, or `found`) says how many
            passages there are, `data.missing` which words no document has.
    """
    facts = scene.agents.get(scene.rules.steps[Need.FIND].agent)
    if facts is None or not facts.enabled or todo.agent_name != facts.team:
        return None
    if FOLLOW_UP_OF in todo.metadata or any(t.metadata.get(FOLLOW_UP_OF) == todo.id for t in scene.todos):
        return None
    hits = hits_of(result)
    if hits is None or hits >= scene.rules.limits.few_hits:
        return None
    asked = str(todo.arguments.get("query") or scene.query)
    data = result.get("data")
    missing = data.get("missing") if isinstance(data, Mapping) else None
    absent = [w for w in missing if isinstance(w, str)] if isinstance(missing, list) else []
    if lacks_the_point(asked, absent, scene.rules) or has_it_all(asked, _passages(data), scene.rules):
        return None
    broader = broader_query(asked, scene.rules, absent)
    if not broader or broader in {str(t.arguments.get("query", "")) for t in scene.todos}:
        return None
    language = language_of(shown(asked, scene.rules.limits), scene.rules.words)
    addition = AddStep(
        find_step(broader, language, scene.rules),
        feeds=fed_by(Need.FIND, (), scene),
        metadata={FOLLOW_UP_OF: todo.id},
    )
    few = {0: "none", 1: "one"}.get(hits, "few")
    reason = scene.rules.sentences[language][few].format(id=todo.id, hits=hits)
    return Proposed(reason=f"{reason}.", changes=(addition,))


def _passages(data: object) -> list[str]:
    """Return the passages of a search with what they stand under, as far as they are given."""
    found = data.get("passages") if isinstance(data, Mapping) else None
    items = [item for item in found if isinstance(item, Mapping)] if isinstance(found, list) else []
    return [" ".join(str(item.get(key, "")) for key in ("path", "heading", "text")) for item in items]
