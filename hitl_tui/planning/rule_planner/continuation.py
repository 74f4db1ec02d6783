"""Questions that go on from the last one: what a person leaves out is taken from it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.names import step_name
from hitl_tui.core.plan import ExecutionStep
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.planning.proposals import AddStep, Proposed
from hitl_tui.planning.rule_planner.arguments import fill
from hitl_tui.planning.rule_planner.calls import Asked, Call
from hitl_tui.planning.rule_planner.command_facts import CommandFacts
from hitl_tui.planning.rule_planner.plan_steps import (
    build_plan,
    decide,
    reference,
    run_step,
    usable,
)
from hitl_tui.planning.rule_planner.query_reader import WORD, cut, read, refers, term_of, terms_of
from hitl_tui.planning.rule_planner.rule_file import Need, Rules
from hitl_tui.planning.rule_planner.scene import IDLE, Scene, step_key
from hitl_tui.planning.rule_planner.values import Span, given_in
from hitl_tui.planning.rule_planner.words import goes_on as particle_fits

_LEAD = re.compile(
    r"^\s*(?:(?:and|but|so|then|also|ok(?:ay)?|now|그럼|그러면|그리고|그런데|그렇다면|근데),?\s+)*"
    r"(?:(?:what|how) about\s+)?",
    re.IGNORECASE,
)
_TAIL = re.compile(r"(?:은|는|도|이|가|의\s?경우(?:는|에는)?)?(?:요|야|여|죠)?\s*[?.!]*\s*$")
_ROLE = re.compile(r"\s*(?:(?P<by>for|of|in|on|at|to|from|with|by|about)\s+)?(?:(?:the|an?)\s+)?", re.IGNORECASE)
_OF = re.compile(
    r"(?<![a-z])(?P<by>for|of|in|on|at|to|from|with|by|about)\s+(?:(?:the|an?)\s+)?(?P<modifier>(?-i:[a-z-]+)\s+)?$",
    re.IGNORECASE,
)
_VERBAL = re.compile("(?:하|되|있|없)[는던]$")
_PLACE = re.compile("(?<![가-힣])[가-힣]{2,4}(?:시|도|군|구|동|읍|면)(?=$|[^가-힣]|[은는이가을를의에도와과])")
_OTHER = {
    "은": "는",
    "는": "은",
    "이": "가",
    "가": "이",
    "을": "를",
    "를": "을",
    "과": "와",
    "와": "과",
    "으로": "로",
    "로": "으로",
}
_ALTERNATING = re.compile(r"(?:으로|[은는이가을를과와로])(?![가-힣])")
_FEW = 2


def continued(scene: Scene, asked: Asked) -> Proposed | None:
    """Return the further steps that a question or a task asks for in a session that has answered one; else None.

    Args:
        scene: the plan, and the words.
        asked: what the words call.
    """
    last = _last(scene)
    if last is None or asked.calls:
        return None
    text, rules = scene.text.strip(), scene.rules
    lead = _LEAD.match(text)
    rest = text[lead.end() :] if lead else text
    led = rest != text
    try:
        reading = read(text, rules)
    except BadInput:
        return None
    terms = terms_of(rest, rules)
    # What says enough is a question, however it is put.
    asks = "?" in text or led or len(terms) > _FEW or reading.needs(rules, *rules.threshold)
    if not asks:
        return None
    goes_on = led or len(terms) <= _FEW
    if goes_on:
        said = _TAIL.sub("", rest) or rest
        if (facts := scene.facts_of(last)) is not None:
            return _called_again(said, facts, last, scene)
        text = merged(str(last.arguments.get("query") or scene.query), said, rules)[0]
    wanted = decide(text, read(text, rules), Asked(()), scene.agents, rules)
    needs, _ = usable(wanted.needs, scene.agents, rules)
    first = (last.id,) if goes_on or refers(text) else ()
    steps = build_plan(wanted, needs, rules, titled=True).steps
    return _proposed([replace(s, dependencies=(*first, *s.dependencies)) for s in steps], last, scene)


def _last(scene: Scene) -> SupervisorTodo | None:
    """Return the step that answered last: the one that a question goes on from."""
    kinds = {scene.rules.steps[need].agent for need in (Need.FIND, Need.COMPUTE)}
    done = [t for t in scene.todos if t.status is Status.COMPLETED]
    named = [t for t in done if t.agent_name in kinds or scene.facts_of(t) is not None]
    called = [t for t in scene.todos if t.status in IDLE and scene.facts_of(t) is not None]
    return max(named or called, key=lambda t: (t.completed_at, t.rank), default=None)


def _called_again(said: str, facts: CommandFacts, last: SupervisorTodo, scene: Scene) -> Proposed | None:
    """Propose the last call once more, with what is said now instead."""
    inputs = changed_inputs(said, last, scene)
    given = inputs and inputs["input" if facts.own else "parameters"]
    if not isinstance(given, Mapping):
        return None
    call = Call(facts, given, 0, len(said), words=said)
    after = (last.id,) if last.status is Status.COMPLETED else ()
    step = replace(run_step(call, scene.language, scene.rules), dependencies=after)
    return _proposed([step], last, scene)


def _proposed(steps: Sequence[ExecutionStep], last: SupervisorTodo, scene: Scene) -> Proposed:
    names: dict[str, str] = {}
    changes: list[AddStep] = []
    for step in steps:
        key = names[reference(step)] = step_key(step, scene, changes)
        changes.append(AddStep(replace(step, id=key, dependencies=tuple(names.get(d, d) for d in step.dependencies))))
    words = scene.rules.sentences[scene.language]["continues"]
    return Proposed(words.format(id=step_name(last.id), text=cut(scene.text.strip(), 100)), tuple(changes))


def changed_inputs(said: str, todo: SupervisorTodo, scene: Scene) -> JsonObject | None:
    """Return the input of a step with what is said now in its place; None where nothing of it takes what is said."""
    facts = scene.facts_of(todo)
    if facts is None:
        before, words = str(todo.arguments.get("query", "")), terms_of(said, scene.rules)
        whole, replaced = merged(before, " ".join(words), scene.rules)
        return {**todo.arguments, "query": whole} if before and replaced else None
    bound, *_ = fill(said, facts, scene.rules)
    given = todo.arguments.get("input" if facts.own else "parameters")
    if not bound.parameters or not isinstance(given, Mapping):
        return None
    whole_input = {**given, **bound.parameters}
    return {"input": whole_input} if facts.own else {"command": facts.name, "parameters": whole_input}


def merged(before: str, said: str, rules: Rules) -> tuple[str, bool]:
    """Return the last question with what is said now in the place of what it stands for.

    That is the one place of the last question that is most like it: of the same type, with the same last word, in the
    same part of the sentence (after the same preposition, the topic), or written alike. Where two are as like, nobody
    knows.

    Args:
        before: the last question.
        said: what is said now, without the words that lead over to it.
        rules: what names and dates are.

    Returns:
        The question, and whether a place was found; where none was, the last question is followed by what is said.
    """
    role = _ROLE.match(said)
    phrase = said[role.end() :].strip() if role and role.end() < len(said) else said
    words = phrase.split()
    if not words:
        return before, False
    words[-1] = rules.lexicon.bare(words[-1])
    phrase = " ".join(words)
    places = _places(before, rules)
    kinds = {kind for place, kind in _places(phrase, rules).items() if kind}
    scores = {place: _likeness(place, kind in kinds, before, phrase, role, rules) for place, kind in places.items()}
    best = [place for place, score in scores.items() if score and score == max(scores.values())]
    # Of words side by side the last one is what the others say more of.
    best = [one for one in best if not any(before[one[1] : other[0]] == " " for other in best)]
    if not best or len({before[start:end] for start, end in best}) > 1:
        return f"{before.rstrip(' ?.!')} {said}", False
    for start, end in reversed(best):
        of = _OF.search(before[:start])
        more = len(words) - 1 if before[start:end] == words[-1] or not of else 1
        start = _with_modifiers(start, before, more, rules)
        before = before[:start] + phrase + _agreeing(phrase, before[end:])
    return before, True


def _places(text: str, rules: Rules) -> dict[Span, str]:
    """Return what a text gives, names and says, by place, with the type of what has one; in order."""
    found = {g.place: f"{g.kind} {g.measure}{PurePosixPath(str(g.value)).suffix}" for g in given_in(text, rules.units)}
    named = {m.span(): "place" for m in _PLACE.finditer(text)}
    for match in WORD.finditer(text):
        word = rules.lexicon.bare(match.group())
        if term_of(word, rules) and not _VERBAL.search(match.group()):
            named.setdefault((match.start(), match.start() + len(word)), "")
    for place, kind in sorted(named.items(), key=lambda n: (not n[1], n[0][0] - n[0][1])):
        if not any(start < place[1] and place[0] < end for start, end in found):
            found[place] = kind
    return dict(sorted(found.items()))


def _likeness(place: Span, typed: bool, before: str, phrase: str, role: re.Match[str] | None, rules: Rules) -> int:
    """Return how surely a place of a question is what a phrase stands for now: 0 for not at all."""
    old, new = before[place[0] : place[1]], phrase.split()[-1]
    if old == phrase:
        return 0
    preposition = _OF.search(before[: place[0]])
    score = 4 * typed + 4 * (old == new)
    if preposition:
        score += 3 if role and role["by"] and role["by"].lower() == preposition["by"].lower() else 1
    if new.isascii() != old.isascii():
        return score
    score += 2 * (place[0] > 0 and new[0].isupper() and old[0].isupper())
    score += 2 * (any(map(str.isdigit, new)) and any(map(str.isdigit, old)))
    if not new.isascii():
        topic = re.match("[은는](?![가-힣])", before[place[1] :])
        return score + 2 * (topic is not None) + 2 * (len(new) == len(old) and new[-1] == old[-1])
    return score + (new.endswith("s") and old.endswith("s"))


def _with_modifiers(start: int, text: str, most: int, rules: Rules) -> int:
    """Return where a phrase begins that ends at a place: with as many words before it that say which of its kind."""
    for match in reversed(list(WORD.finditer(text, 0, start))[-most:] if most else []):
        word = match.group()
        if text[match.end() : start].strip() or not term_of(word, rules) or rules.lexicon.bare(word) != word:
            break
        start = match.start()
    return start


def _agreeing(word: str, rest: str) -> str:
    """Return what follows a word with the Korean particle that goes with its end."""
    match = _ALTERNATING.match(rest)
    if match is None or particle_fits(word, match.group()):
        return rest
    return _OTHER[match.group()] + rest[match.end() :]
