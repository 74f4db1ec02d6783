"""What goes on from the last question: one that leaves out what that said, and a broader search after too few hits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.names import step_name
from hitl_tui.core.plan import Concern, ExecutionStep
from hitl_tui.core.question_field import question_of, question_path, with_question
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.planning.proposals import AddStep, Proposed
from hitl_tui.planning.rule_planner.arguments import Call, fill
from hitl_tui.planning.rule_planner.calls import Asked, deeds_asked
from hitl_tui.planning.rule_planner.plan_steps import (
    StepList,
    before_report,
    look_step,
    planned,
    run_step,
    title_of,
)
from hitl_tui.planning.rule_planner.query_reader import cut, language_of, read, refers, shown, terms_of
from hitl_tui.planning.rule_planner.question_rewrite import asks, merged, named_in, says
from hitl_tui.planning.rule_planner.rule_file import Need, lexicon, rules
from hitl_tui.planning.rule_planner.scene import IDLE, Scene
from hitl_tui.planning.rule_planner.words import alike, stem
from hitl_tui.tables.words import is_question_word, is_worked_out

_FEW, _SHORT = 2, 4
"""Words of what needs what was said before, and of what may stand near it."""
_FEW_HITS, _BROADER = 2, 3
"""Passages from which on a search found enough, and the most words of a broader one."""
_UNANSWERED = (Status.FAILED, Status.SKIPPED, Status.BLOCKED)
"""How a step stands that answers nothing any more."""
FOLLOW_UP_OF: Final = "follow_up_of"


def continued(scene: Scene, asked: Asked, *, alone: bool = False, ahead: Sequence[str] = ()) -> Proposed | None:
    """Return the further steps that a question or a task asks for in a session that has answered one; else None.

    Args:
        alone: the words go on from nothing.
        ahead: steps that had better wait for them.
    """
    last = _last(scene)
    text = scene.text.strip()
    rest = rules().follow.lead.sub("", text)
    if last is None or asked.calls:
        return None
    try:
        reading = read(text)
    except BadInput:
        return None
    terms = [term for term in terms_of(rest) if term.lower() not in lexicon().chatter]
    few = len([term for term in terms if not (rules().follow.means.match(term) or is_question_word(term))]) <= _FEW
    # What says enough is a question, however it is put.
    wants = "?" in text or reading.needs(*rules().threshold) or deeds_asked(text)
    if few and rest == text and not (wants or alone):
        return None
    led, facts = rest != text and not rules().follow.turn.match(text), scene.facts_of(last)
    said = (rules().follow.tail.sub("", rest) or rest).strip()
    compute = scene.agent_for(Need.COMPUTE)
    # What can be worked out from its own figures needs nothing that was said before.
    by_itself = compute is not None and compute.concern(rest) is Concern.ALONE
    before, query = str(last.arguments.get("query") or scene.query), before_report(scene.query)
    before = query if before in query else before  # one of several questions that were asked at once
    goes_on = not (alone or by_itself) and bool(led or few or rules().follow.case.fullmatch(said))
    goes_on = goes_on and (led or not _is_foreign(terms, before))
    whole, replaced = merged(before, said) if goes_on else (rest, False)
    # What is the same question of something else goes on, however much it says by itself.
    goes_on = goes_on and ((led and replaced and not rest.isascii()) or not _stands_alone(rest, led=led))
    notes: Sequence[str] = ()
    if goes_on and facts is not None:
        given = (changed_inputs(said, last, scene) or {}).get("input" if facts.own else "parameters")
        again = [run_step(Call(facts, given, said), scene.language)] if isinstance(given, Mapping) else []
        steps: Sequence[ExecutionStep] = [StepList(scene.step_ids).add(step) for step in again]
    else:
        text = whole if goes_on else rest
        made = planned(text, read(text), Asked(()), scene.agents, further=scene.step_ids)
        steps, notes = made.plan.steps, made.notes
    known = [stem(term) for term in terms_of(before)]
    shares = len(terms) <= _SHORT and any(alike(stem(term), one) for term in terms for one in known)
    near = goes_on or led or shares or refers(text) or (few and rules().follow.auxiliary.match(rest))
    once = [t.id for t in scene.of(Need.FIND) if t.status is Status.COMPLETED and str(t.arguments["query"]) in before]
    first = tuple(dict.fromkeys((*(once if once[1:] else ()), last.id)))
    first = first if last.status is Status.COMPLETED and near else ()
    words = rules().sentences[scene.language]["continues" if first or goes_on else "asks"]
    after = [replace(step, dependencies=(*first, *step.dependencies)) for step in steps]
    drawn_on = {one for step in after for one in step.dependencies}
    changes = [AddStep(step, () if step.id in drawn_on else tuple(ahead)) for step in after]
    if notes and changes:
        changes[0] = replace(changes[0], metadata={"remarks": list(notes)})
    said = ". ".join([words.format(id=step_name(last.id), text=cut(scene.text.strip(" \n."), 100)), *notes])
    return Proposed(said, tuple(changes)) if steps else None


def _is_foreign(terms: Sequence[str], before: str) -> bool:
    """Whether all words are in another script than the last question, in which no place is for them; a name may be."""
    korean = [any("가" <= letter <= "힣" for letter in term) for term in terms]
    asked = any("가" <= letter <= "힣" for letter in before)
    return bool(terms) and (all(korean) and not asked if any(korean) else asked and len(terms) > 1)


def _stands_alone(text: str, *, led: bool) -> bool:
    """Whether words are a question of their own: they ask or tell with a word for that, and name what they ask about.

    Where something leads over to them they have to be a whole sentence.
    """
    named = [part for part in named_in(text) if not part.kind or part.kind.startswith(("code", "place"))]
    named = [part for part in named if not rules().follow.wanted.search(text[: part.place[0]])]
    whole = not led or rules().follow.auxiliary.search(text) or len(named) > 1
    named_or_wanted = named or rules().follow.wish.search(text)
    return bool(asks(text) and named_or_wanted and whole) and not rules().follow.means.search(text)


def _last(scene: Scene) -> SupervisorTodo | None:
    """Return the step that answered what was asked last: the one that a question goes on from."""
    kinds = {rules().steps[need].agent for need in (Need.FIND, Need.COMPUTE)}
    done = [t for t in scene.todos if t.status is Status.COMPLETED]
    named = [t for t in done if t.agent_name in kinds or scene.facts_of(t) is not None]
    called = [t for t in scene.todos if t.status in IDLE and scene.facts_of(t) is not None]
    asked = [t for t in named or called if FOLLOW_UP_OF not in t.metadata] or named
    return max(asked, key=lambda t: t.rank, default=None)


def changed_inputs(said: str, todo: SupervisorTodo, scene: Scene) -> JsonObject | None:
    """Return the input of a step with what is said now in its place; None where nothing of it takes what is said."""
    facts = scene.facts_of(todo)
    if facts is None:
        agent = scene.agents.get(todo.agent_name)
        path = question_path(agent.input_schema()) if agent is not None else ()
        before, words = question_of(todo.arguments, path), terms_of(said)
        whole, replaced = merged(before, " ".join(words), anew=False)
        return with_question(todo.arguments, path, whole) if before and replaced else None
    call, *_ = fill(said, facts)
    given = todo.arguments.get("input" if facts.own else "parameters")
    if not call.parameters or not isinstance(given, Mapping):
        return None
    whole_input = {**given, **call.parameters}
    return {"input": whole_input} if facts.own else {"command": facts.name, "parameters": whole_input}


# A broader search (D14) ---------------------------------------------------------------------------------------------


def follow_up_search(scene: Scene, todo: SupervisorTodo, result: JsonObject) -> Proposed | None:
    """Propose a search for the words that say most after one that found too little, once per TODO.

    Where a word of the question stands in no document, nothing found is the answer, and nothing is proposed; nor is it
    where a table answers the question, or may still. A question that no table answers is looked for in the documents,
    unless it has to be worked out.

    Args:
        result: its `TeamResult` as a dict; `data` says how many `hits` there are, whether they only come near
            (`weak`), which words no document has (`missing`), and how many documents were `searched`.
    """
    facts, data = scene.agent_for(Need.FIND), result.get("data")
    if facts is None or FOLLOW_UP_OF in todo.metadata or not isinstance(data, dict):
        return None
    if todo.agent_name != facts.team:
        return _beside_tables(scene, todo) if result.get("found") is False else None
    hits = data.get("hits")
    enough = type(hits) is not int or hits >= _FEW_HITS or (hits and data.get("weak") is False)
    beside = [other for other in _asked_beside(scene, todo) if other.status not in _UNANSWERED]
    if enough or data.get("searched") == 0 or any(_may_answer(other) for other in beside):
        return None
    missing = tuple(str(word).lower() for word in data.get("missing") or ())
    return _broader(scene, todo, "one" if hits else "none", missing)


def _broader(scene: Scene, todo: SupervisorTodo, why: str, missing: tuple[str, ...] = ()) -> Proposed | None:
    """Propose a search for the words of a search that say most, once; `missing` ones stand in no document."""
    asked = shown(str(todo.arguments.get("query") or scene.query))
    terms = terms_of(asked)
    named = [term for term in terms if not any(map(str.isdigit, term))]
    most = sorted(named, key=says, reverse=True)[:_BROADER]
    words = [term for term in named if term in most]
    # The same words would find the same again, and one alone anything.
    useful = 1 < len(words) < len(terms) and not any(word.lower().startswith(missing) for word in words)
    done = any(t.metadata.get(FOLLOW_UP_OF) == todo.id for t in scene.todos)
    return _search_for(" ".join(words), why, scene, todo) if useful and not done else None


def _asked_beside(scene: Scene, todo: SupervisorTodo) -> list[SupervisorTodo]:
    """Return the steps that work out the question of a search without it: those that ask tables."""
    asked = todo.arguments.get("query")
    same = (other for other in scene.of(Need.COMPUTE) if other.arguments.get("query") == asked)
    return [other for other in same if todo.id not in other.dependencies]


def _may_answer(todo: SupervisorTodo) -> bool:
    """Whether a step answered what it was asked, or hasn't ended."""
    return todo.status is not Status.COMPLETED or bool((todo.result or {}).get("found"))


def _beside_tables(scene: Scene, todo: SupervisorTodo) -> Proposed | None:
    """Propose a search for what no table answers; a broader one where the documents had nothing, either."""
    asked = str(todo.arguments.get("query", ""))
    searched = [t for t in scene.of(Need.FIND) if t.arguments.get("query") == asked]
    if todo not in scene.of(Need.COMPUTE) or todo.dependencies:
        return None
    for search in searched:
        if search.status is Status.COMPLETED and (search.result or {}).get("found") is False:
            return _broader(scene, search, "none")
    return None if searched or is_worked_out(asked) else _search_for(asked, "no_rows", scene, todo)


def _search_for(words: str, why: str, scene: Scene, todo: SupervisorTodo) -> Proposed:
    language = language_of(str(todo.arguments.get("query") or scene.query))
    step = look_step(Need.FIND, words, language, title_of(words))
    reason = rules().sentences[language][why].format(id=step_name(todo.id))
    return Proposed(f"{reason}.", (AddStep(step, scene.users(Need.FIND, ()), {FOLLOW_UP_OF: todo.id}),))
