"""A broader search after one that found too little (D14): fewer words, without figures."""

from __future__ import annotations

import re
from typing import Final

from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.names import step_name
from hitl_tui.core.todos import SupervisorTodo
from hitl_tui.planning.proposals import AddStep, Proposed
from hitl_tui.planning.rule_planner.plan_steps import look_step, title_of
from hitl_tui.planning.rule_planner.query_reader import language_of, shown, terms_of
from hitl_tui.planning.rule_planner.rule_file import Need
from hitl_tui.planning.rule_planner.scene import Scene, fed_by
from hitl_tui.planning.rule_planner.values import blanked, given_in

FOLLOW_UP_OF: Final = "follow_up_of"
_MEASURE = re.compile(r"(?<![a-z])how\s+[a-z]+|얼마나\s?[가-힣]{1,6}", re.IGNORECASE)
"""What only asks for a measure: a passage that answers "how high" has a figure in its place."""


def follow_up_search(scene: Scene, todo: SupervisorTodo, result: JsonObject) -> Proposed | None:
    """Propose a broader search after one that found too little, once per TODO and never after a follow-up.

    Where a word of the question stands in no document, nothing found is the answer, and nothing is proposed.

    Args:
        scene: the session's plan; its text is the query.
        todo: the TODO that ended.
        result: its `TeamResult` as a dict; `data` says how many `hits` there are, whether they only come near
            (`weak`), which words no document has (`missing`), and how many documents were `searched`.
    """
    rules, facts = scene.rules, scene.agents.get(scene.rules.steps[Need.FIND].agent)
    data = result.get("data")
    if facts is None or not facts.enabled or todo.agent_name != facts.team or not isinstance(data, dict):
        return None
    hits, missing = data.get("hits"), {str(word).lower() for word in data.get("missing") or ()}
    if type(hits) is not int or hits >= rules.limits.few_hits or (hits and data.get("weak") is False):
        return None
    asked = str(todo.arguments.get("query") or scene.query)
    said = _MEASURE.sub(" ", shown(asked, rules.limits))
    figures = [g.place for g in given_in(said, rules.units) if g.kind in ("number", "percent", "date", "period")]
    words = [term for term in terms_of(blanked(said, figures), rules) if not any(map(str.isdigit, term))]
    broader = " ".join(words[: rules.limits.broader_words])
    # The same words would find the same again.
    narrower = len(words) > rules.limits.broader_words or len(words) < len(terms_of(said, rules))
    done = any(broader == t.arguments.get("query") or t.metadata.get(FOLLOW_UP_OF) == todo.id for t in scene.todos)
    absent = any(word.lower().startswith(gone) for word in words for gone in missing)
    if not broader or not narrower or done or absent or data.get("searched") == 0 or FOLLOW_UP_OF in todo.metadata:
        return None
    language = language_of(said, rules)
    step = AddStep(
        look_step(Need.FIND, broader, language, rules, title_of(broader, rules)),
        feeds=fed_by(Need.FIND, (), scene),
        metadata={FOLLOW_UP_OF: todo.id},
    )
    reason = rules.sentences[language]["one" if hits else "none"].format(id=step_name(todo.id))
    return Proposed(f"{reason}.", (step,))
