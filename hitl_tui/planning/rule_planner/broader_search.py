"""Broader searches: fewer words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.todos import SupervisorTodo
from hitl_tui.planning.proposals import AddStep, Proposed
from hitl_tui.planning.rule_planner.plan_steps import find_step
from hitl_tui.planning.rule_planner.query_reader import figure_places, language_of, shown, terms_of
from hitl_tui.planning.rule_planner.rule_file import Need, Rules
from hitl_tui.planning.rule_planner.scene import Scene, fed_by
from hitl_tui.planning.rule_planner.values import given_in

_MEASURE = re.compile(r"(?<![a-z])how\s+[a-z]+|얼마나\s?[가-힣]{1,6}", re.IGNORECASE)
"""What only asks for a measure: a passage that answers "how high" has a figure in its place."""


def broader_query(query: str, rules: Rules) -> str:
    """Return a query of fewer words; empty when there is nothing broader.

    Figures and dates go first: they are what documents word differently. Words that mean the same are the search
    team's to know.

    Args:
        query: what was searched for.
        rules: what carries no content, and how long the result may be.
    """
    said = terms_of(_MEASURE.sub(" ", shown(query, rules.limits)), rules)
    kept = _content(query, rules)[: rules.limits.broader_words]
    # The same words in another order would find the same again.
    return "" if {w.lower() for w in kept} >= {w.lower() for w in said} else " ".join(kept)


def _content(query: str, rules: Rules) -> list[str]:
    """Return the words of a query that a document may have, each once, without its figures."""
    text = _MEASURE.sub(" ", shown(query, rules.limits))
    terms = terms_of(text, rules, figure_places(text, given_in(text, rules.units)))
    return [term for term in terms if not any(c.isdigit() for c in term)]


def lacks_the_point(query: str, missing: Sequence[str], rules: Rules) -> bool:
    """Whether a content word of a query is in no document, so that nothing found is the answer."""
    terms = [t.lower() for t in _content(query, rules)]
    # Search and planning cut Korean endings differently, so one of the two may be the longer.
    return any(t.startswith(w) or w.startswith(t) for t in terms for w in map(str.lower, missing) if w)


def has_it_all(query: str, passages: Iterable[str], rules: Rules) -> bool:
    """Whether one of the passages found has every content word of a query."""
    wanted = [_stem(term) for term in _content(query, rules)]
    return bool(wanted) and any(all(word in passage for word in wanted) for passage in map(str.lower, passages))


def _stem(word: str) -> str:
    """Return a word without what may be an ending: of a long Latin one the first letters."""
    word = word.lower()
    return word[: max(4, len(word) - 3)] if word.isascii() else word


FOLLOW_UP_OF: Final = "follow_up_of"


def hits_of(result: Mapping[str, object]) -> int | None:
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


def follow_up_search(scene: Scene, todo: SupervisorTodo, result: JsonObject) -> Proposed | None:
    """Propose a broader search after one that found too little, once per TODO and never after a follow-up.

    It is proposed only where it can help: the words are there, but not together. Where a word that makes the question
    specific stands in no document, nothing found is the answer, and other passages would be noise; and where a
    passage has all the words, that is the answer.

    Args:
        scene: the session's plan; its text is the query.
        todo: the TODO that ended.
        result: its `TeamResult` as a dict; `data.hits` (or `data.passages`, or `found`) says how many
            passages there are, `data.weak` whether they only come near, `data.missing` which words no document has.
    """
    facts = scene.agents.get(scene.rules.steps[Need.FIND].agent)
    if facts is None or not facts.enabled or todo.agent_name != facts.team:
        return None
    if FOLLOW_UP_OF in todo.metadata or any(t.metadata.get(FOLLOW_UP_OF) == todo.id for t in scene.todos):
        return None
    hits = hits_of(result)
    data = result.get("data")
    sure = isinstance(data, Mapping) and data.get("weak") is False
    if hits is None or hits >= scene.rules.limits.few_hits or (hits and sure):
        return None
    asked = str(todo.arguments.get("query") or scene.query)
    missing = data.get("missing") if isinstance(data, Mapping) else None
    absent = [w for w in missing if isinstance(w, str)] if isinstance(missing, list) else []
    if lacks_the_point(asked, absent, scene.rules) or has_it_all(asked, _passages(data), scene.rules):
        return None
    broader = broader_query(asked, scene.rules)
    if not broader or broader in {str(t.arguments.get("query", "")) for t in scene.todos}:
        return None
    language = language_of(shown(asked, scene.rules.limits), scene.rules)
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
