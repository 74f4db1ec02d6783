"""What goes on from the last question: one that leaves out what that said, and a broader search after too few hits."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Final

from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.names import step_name
from hitl_tui.core.plan import Concern, ExecutionStep
from hitl_tui.core.question_field import question_of, question_path, with_question
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.meaning.frequencies import telling
from hitl_tui.planning.proposals import AddStep, Proposed
from hitl_tui.planning.rule_planner.arguments import Call, fill
from hitl_tui.planning.rule_planner.calls import Asked, deeds_asked, requested
from hitl_tui.planning.rule_planner.plan_steps import (
    StepList,
    build_plan,
    decide,
    look_step,
    remarks,
    run_step,
    title_of,
    usable,
)
from hitl_tui.planning.rule_planner.query_reader import WORD, cut, language_of, read, refers, shown, term_of, terms_of
from hitl_tui.planning.rule_planner.rule_file import Need, Rules
from hitl_tui.planning.rule_planner.scene import IDLE, Scene
from hitl_tui.planning.rule_planner.values import Span, given_in, overlaps
from hitl_tui.tables.words import is_question_word, is_worked_out

_LEAD = re.compile(
    r"^\s*(?:(?:and|but|so|then|also|ok(?:ay)?|now|그럼|그러면|그리고|그런데|그렇다면|근데),?\s+)*"
    r"(?:(?:what|how) about\s+|what\s+(?=if\b))?",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\W*(?:(?:on|in|at|by|for|from|to|since|until) )?(?:what|who|whom|whose|where|when|why|which|how)\b", re.IGNORECASE
)
_AUXILIARY = re.compile(
    r"\b(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|must|may)\b", re.IGNORECASE
)
_MEANS = re.compile(
    r"\b(?:it|this(?! (?:time|week|month|year)\b)|these|those|them)\b|(?<![가-힣])그(?:것|거|건|걸)", re.IGNORECASE
)
"""What stands for something that was said before."""
_IF = re.compile(
    r"(?:(?<=[,.?!] )|^)[^,.?!]*?[가-힣]+(?<!끝나)(?<![화측도표냉수반])면(?=[\s,?]|$)"
    r"|\b(?:if|unless) (?:[^,.?!]|[.,](?=\d))+",
    re.IGNORECASE,
)
"""A case that something is asked of."""
_TAIL = re.compile(r"(?:도|의\s?경우(?:는|에는)?)?(?:요|야|여|죠)?\s*[?.!]*\s*$")
_BY = r"(?P<by>for|of|in|on|at|to|from|with|by|about)\s+"
_ROLE = re.compile(rf"\s*(?:{_BY})?(?:(?:the|an?)\s+)?", re.IGNORECASE)
_OF = re.compile(rf"(?<![a-z]){_BY}(?:(?:the|an?)\s+(?:\w+\s+)?)?$", re.IGNORECASE)
_VERBAL = re.compile("(?:하|되|있|없)[는던]$")
_PLACE = re.compile("[가-힣]{1,3}(?:시|도|군|구|동|읍|면)")
_SUBJECT = ("은", "는", "이", "가")
_AGREES = (*_SUBJECT, "을", "를", "와", "과", "로", "으로")
"""Particles that go with how a word ends."""
_FEW = 2
_FEW_HITS, _BROADER = 2, 3
"""Passages from which on a search found enough, and the most words of a broader one."""
_SAYS = 0.3
"""How telling a word has to be to name what a question is about."""
_SURE = 4
"""How like something has to be to what says more than a name."""
FOLLOW_UP_OF: Final = "follow_up_of"


def continued(scene: Scene, asked: Asked, *, alone: bool = False, ahead: Sequence[str] = ()) -> Proposed | None:
    """Return the further steps that a question or a task asks for in a session that has answered one; else None.

    Args:
        scene: the plan, and the words.
        asked: what the words call.
        alone: the words go on from nothing.
        ahead: steps that had better wait for them.
    """
    last, rules = _last(scene), scene.rules
    text = scene.text.strip()
    rest = _LEAD.sub("", text)
    if last is None or asked.calls:
        return None
    try:
        reading = read(text, rules)
    except BadInput:
        return None
    few = len([term for term in terms_of(rest, rules) if term.lower() not in rules.lexicon.chatter]) <= _FEW
    # What says enough is a question, however it is put.
    asks = "?" in text or reading.needs(rules, *rules.threshold) or deeds_asked(text, rules)
    if few and rest == text and not (asks or alone):
        return None
    led, facts = rest != text, scene.facts_of(last)
    said = (_TAIL.sub("", rest) or rest).strip()
    case = _IF.fullmatch(said) is not None
    goes_on = not (alone or _is_sum(rest, scene)) and (
        case or ((led or few) and not _stands_alone(rest, rules, led=led))
    )
    notes: Sequence[str] = ()
    if goes_on and facts is not None:
        given = (changed_inputs(said, last, scene) or {}).get("input" if facts.own else "parameters")
        again = [run_step(Call(facts, given, said), scene.language, rules)] if isinstance(given, Mapping) else []
        steps: Sequence[ExecutionStep] = [StepList(scene.step_ids).add(step) for step in again]
    else:
        text = merged(str(last.arguments.get("query") or scene.query), said, rules)[0] if goes_on else rest
        wanted = decide(text, read(text, rules), Asked(()), scene.agents, rules)
        needs, _ = usable(wanted.needs, scene.agents, rules)
        steps = build_plan(wanted, needs, rules, titled=True, taken=scene.step_ids).steps
        notes = remarks(Asked(()), wanted, (), rules)
    first = (last.id,) if last.status is Status.COMPLETED and (goes_on or refers(text)) else ()
    words = rules.sentences[scene.language]["continues" if first or goes_on else "asks"]
    after = [replace(step, dependencies=(*first, *step.dependencies)) for step in steps]
    drawn_on = {one for step in after for one in step.dependencies}
    changes = [AddStep(step, () if step.id in drawn_on else tuple(ahead)) for step in after]
    if notes and changes:
        changes[0] = replace(changes[0], metadata={"remarks": list(notes)})
    said = ". ".join([words.format(id=step_name(last.id), text=cut(scene.text.strip(" \n."), 100)), *notes])
    return Proposed(said, tuple(changes)) if steps else None


def _is_sum(text: str, scene: Scene) -> bool:
    """Whether words can be worked out from their own figures: they need nothing that was said before."""
    facts = scene.agents.get(scene.rules.steps[Need.COMPUTE].agent)
    return facts is not None and facts.enabled and facts.concern(text) is Concern.ALONE


def _stands_alone(text: str, rules: Rules, *, led: bool) -> bool:
    """Whether words are a question of their own: they ask or tell with a word for that, and name what they ask about.

    Args:
        text: the words.
        rules: which of them say something.
        led: something leads over to them, so that they have to be a whole sentence.
    """
    things = given_in(text, rules.units)
    given = [one.place for one in things]
    words = [match[0] for match in WORD.finditer(text) if not overlaps(match.span(), given)]
    asks = bool(_ASKS.match(text) or rules.says.howto.search(text) or any(map(is_question_word, words)))
    asks = asks or bool(requested(text, rules))
    named = [
        w for w in words if not (_VERBAL.search(w) or is_question_word(w)) and term_of(rules.lexicon.bare(w), rules)
    ]
    whole = not led or _AUXILIARY.search(text) or len(named) > 1
    named += [str(one.value) for one in things if one.kind == "code"]
    return bool(asks and named and whole) and not _MEANS.search(text)


def _last(scene: Scene) -> SupervisorTodo | None:
    """Return the step that answered what was asked last: the one that a question goes on from."""
    kinds = {scene.rules.steps[need].agent for need in (Need.FIND, Need.COMPUTE)}
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
        before, words = question_of(todo.arguments, path), terms_of(said, scene.rules)
        whole, replaced = merged(before, " ".join(words), scene.rules)
        return with_question(todo.arguments, path, whole) if before and replaced else None
    call, *_ = fill(said, facts, scene.rules)
    given = todo.arguments.get("input" if facts.own else "parameters")
    if not call.parameters or not isinstance(given, Mapping):
        return None
    whole_input = {**given, **call.parameters}
    return {"input": whole_input} if facts.own else {"command": facts.name, "parameters": whole_input}


@dataclass(frozen=True, slots=True)
class _Phrase:
    """Something that a text gives or names.

    Args:
        place: where it stands, without its particle.
        text: what it says.
        kind: what is of one kind can stand for another; empty for words.
        by: the English preposition before it, and where that begins.
        particle: the Korean one after it.
    """

    place: Span
    text: str
    kind: str = ""
    by: tuple[str, int] = ("", 0)
    particle: str = ""

    def word(self, text: str) -> _Phrase | None:
        """Return the word of this phrase that reads so, where others follow it: "deposit" of "deposit cap"."""
        at = f" {self.text}".find(f" {text} ")
        if self.kind or at < 0:
            return None
        start = self.place[0] + at
        return replace(self, place=(start, start + len(text)), text=text, by=("", 0), particle="")

    def likeness(self, other: _Phrase) -> float:
        """Return how surely another phrase stands in the place of this one: 0 for not at all."""
        if self.text == other.text:
            return 0.0
        score = 4.0 * (bool(self.kind) and self.kind == other.kind)
        score += 4 * (self.text.split()[-1] == other.text.split()[-1])
        score += 3 * (self.by[0] == other.by[0] != "") + 0.1 * bool(self.by[0])
        score += 2 * (self.particle in _SUBJECT[:2]) + (self.text[-1] == other.text[-1])
        return score + 2 * (self.text[0].isupper() and other.text[0].isupper())


def merged(before: str, said: str, rules: Rules) -> tuple[str, bool]:
    """Return the last question with what is said now in the place of what it stands for.

    That is the one place of the last question that is most like it: of the same kind, with the same last word, in the
    same part of the sentence (after the same preposition, the topic), or written alike; else, for a single thing, what
    names most. It brings its own preposition, but for "for", which only leads over. A case stands for a case; one that
    says nothing but a figure ("if it was 4") stands for the last figure of its kind.

    Args:
        before: the last question.
        said: what is said now, without the words that lead over to it.
        rules: what names and dates are.

    Returns:
        The question, and whether a place was found; where none was, the last question is followed by what is said.
    """
    if _IF.fullmatch(said):
        if whole := _with_figure(before, said, rules):
            return whole, True
        if other := _IF.search(before):
            return f"{before[: other.start()]}{said}{before[other.end() :]}", True
        if not said.isascii():
            return f"{said} {before}", True
    role = _ROLE.match(said)
    now = said[role.end() :] if role else said
    if not now.strip():
        return before, False
    bare, things = rules.lexicon.bare(now), _phrases(now, rules)
    kind = next((one.kind for one in things if one.kind), "")
    by = (role["by"] or "").lower() if role else ""
    phrase = _Phrase((0, 0), bare, kind, (by, 0), now[len(bare) :])
    asked = (one.word(bare.split()[-1]) or one for one in _phrases(before, rules))
    adds = not kind and by not in ("", "for", "of", "about")  # which stands beside what has no such word itself
    places = {one: one.likeness(phrase) for one in asked if one.text != bare and (one.by[0] or not adds)}
    alone = [one.place for one in things] == [(0, len(bare))]
    if alone and not kind:
        places = {one: likeness + _telling(one.text) for one, likeness in places.items()}
    least = 0.5 if alone else _SURE
    best = [one for one, likeness in places.items() if least <= likeness == max(places.values())]
    if not best or len({one.text for one in best}) > 1:
        return f"{before.rstrip(' ?.!')} {said.strip() if adds else bare}", False
    for one in reversed(best):
        start, end = one.place
        particle = phrase.particle if one.particle in _AGREES and phrase.particle in _AGREES else one.particle
        own = by not in ("", "for", one.by[0]) and one.by[0] != ""
        start, now = (one.by[1], said.strip()) if own else (start, bare)
        lead, rest = before[:start].rstrip().rpartition(" ")[2], now.partition(" ")
        now = rest[2] if rest[2] and lead.casefold() == rest[0].casefold() else now  # "Python" stands there already
        before = f"{before[:start]}{now}{particle}{before[end + len(one.particle) :]}"
    return before, True


def _with_figure(before: str, case: str, rules: Rules) -> str:
    """Return the last question with a case's figure in the place of its own; empty where that says more."""
    figures = [one for one in given_in(case, rules.units) if one.kind == "number"]
    if len(figures) != 1 or any(not one.kind for one in _phrases(case, rules)):
        return ""
    measures = {"", figures[0].measure}
    held = [one for one in given_in(before, rules.units) if one.kind == "number"]
    alike = [one for one in held if not figures[0].measure or one.measure in measures]
    if not alike:
        return ""
    start, end = alike[-1].place
    after = ((at, rules.units.after(before, at)) for at in range(start + 1, end))
    unit = next((before[at:end] for at, unit in after if unit and at + unit.length == end), "")
    return f"{before[:start]}{case[slice(*figures[0].place)]}{'' if figures[0].unit else unit}{before[end:]}"


def _telling(text: str) -> float:
    """Return how much the word of a text says that says most."""
    return max(telling(word, "en" if word.isascii() else "ko") for word in text.split())


def _phrases(text: str, rules: Rules) -> list[_Phrase]:
    """Return what a text gives, and its content words; words side by side are one phrase."""
    given = given_in(text, rules.units)
    kinds = (f"{g.kind} {g.measure}{_suffix(str(g.value))}" for g in given)
    found = [_phrase(text, g.place, kind, "") for g, kind in zip(given, kinds, strict=True)]
    for match in WORD.finditer(text):
        word = rules.lexicon.bare(match.group())
        start, end = match.start(), match.start() + len(word)
        names = term_of(word, rules) and not _VERBAL.search(match[0]) and _telling(word) >= _SAYS
        if overlaps((start, end), [g.place for g in given]) or not names or is_question_word(word):
            continue
        named = _PLACE.fullmatch(word) is not None
        last = found[-1] if found and not (named or found[-1].kind or found[-1].particle) else None
        if last and text[last.place[1] : start] == " " and last.text[0].isupper() == word[0].isupper():
            found.pop()
            start = last.place[0]
        found.append(_phrase(text, (start, end), "place" if named else "", match.group()[len(word) :]))
    return sorted(found, key=lambda one: one.place)


def _suffix(name: str) -> str:
    """Return the suffix of a file's name; a version number has none."""
    suffix = PurePosixPath(name).suffix
    return suffix if any(map(str.isalpha, suffix)) else ""


def _phrase(text: str, place: Span, kind: str, particle: str) -> _Phrase:
    by = _OF.search(text[: place[0]])
    return _Phrase(place, text[slice(*place)], kind, (by["by"].lower(), by.start()) if by else ("", 0), particle)


# A broader search (D14) ---------------------------------------------------------------------------------------------


def follow_up_search(scene: Scene, todo: SupervisorTodo, result: JsonObject) -> Proposed | None:
    """Propose a search for the words that say most after one that found too little, once per TODO.

    Where a word of the question stands in no document, nothing found is the answer, and nothing is proposed. A question
    that a table doesn't answer, and whose answer needn't be worked out, is looked for in the documents.

    Args:
        scene: the session's plan; its text is the query.
        todo: the TODO that ended.
        result: its `TeamResult` as a dict; `data` says how many `hits` there are, whether they only come near
            (`weak`), which words no document has (`missing`), and how many documents were `searched`.
    """
    rules, facts, data = scene.rules, scene.agents.get(scene.rules.steps[Need.FIND].agent), result.get("data")
    if facts is None or not facts.enabled or FOLLOW_UP_OF in todo.metadata or not isinstance(data, dict):
        return None
    if todo.agent_name != facts.team:
        return _beside_tables(scene, todo) if result.get("found") is False else None
    hits, missing = data.get("hits"), tuple(str(word).lower() for word in data.get("missing") or ())
    enough = type(hits) is not int or hits >= _FEW_HITS or (hits and data.get("weak") is False)
    asked = shown(str(todo.arguments.get("query") or scene.query))
    terms = terms_of(asked, rules)
    named = [term for term in terms if not any(map(str.isdigit, term))]
    most = sorted(named, key=_telling, reverse=True)[:_BROADER]
    words = [term for term in named if term in most]
    # The same words would find the same again, and one alone anything.
    useful = 1 < len(words) < len(terms) and not any(word.lower().startswith(missing) for word in words)
    done = any(t.metadata.get(FOLLOW_UP_OF) == todo.id for t in scene.todos)
    if enough or done or not useful or data.get("searched") == 0:
        return None
    return _search_for(" ".join(words), "one" if hits else "none", scene, todo)


def _beside_tables(scene: Scene, todo: SupervisorTodo) -> Proposed | None:
    asked = str(todo.arguments.get("query", ""))
    searched = any(t.arguments.get("query") == asked for t in scene.of(Need.FIND))
    tables = todo in scene.of(Need.COMPUTE) and not todo.dependencies
    return None if searched or not tables or is_worked_out(asked) else _search_for(asked, "no_rows", scene, todo)


def _search_for(words: str, why: str, scene: Scene, todo: SupervisorTodo) -> Proposed:
    language = language_of(str(todo.arguments.get("query") or scene.query), scene.rules)
    step = look_step(Need.FIND, words, language, scene.rules, title_of(words))
    reason = scene.rules.sentences[language][why].format(id=step_name(todo.id))
    return Proposed(f"{reason}.", (AddStep(step, scene.users(Need.FIND, ()), {FOLLOW_UP_OF: todo.id}),))
