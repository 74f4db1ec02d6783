"""What goes on from the last question: one that leaves out what that said, and a broader search after too few hits.

Such a question is put together with the last one: what is said now stands for what of it that is most like it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, islice, pairwise

from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.messages import Message, joined
from hitl_tui.core.names import step_name
from hitl_tui.core.plan import Concern
from hitl_tui.core.question_field import question_of, question_path, with_question
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.core.written_language import language_of
from hitl_tui.meaning.encoder import likenesses
from hitl_tui.meaning.frequencies import telling
from hitl_tui.meaning.word_forms import is_past, is_question_word
from hitl_tui.planning.proposals import Proposed
from hitl_tui.planning.rule_planner.arguments import Call, fill
from hitl_tui.planning.rule_planner.calls import CalledCommands, deeds_asked, requested
from hitl_tui.planning.rule_planner.plan_revision import FOLLOW_UP_OF, IDLE, PlanRevision, Scene
from hitl_tui.planning.rule_planner.plan_steps import Wanted, before_report, look_step, questions_in, run_step, title_of
from hitl_tui.planning.rule_planner.query_reader import WORD, cut, read, refers, shown, term_of, terms_of
from hitl_tui.planning.rule_planner.rule_file import Need, alike, lexicon, rules, stem
from hitl_tui.planning.rule_planner.table_questions import TABLE, TEXT, Tables
from hitl_tui.planning.rule_planner.values import Span, given_in, overlaps
from hitl_tui.tables.words import is_worked_out

_FEW, _SHORT = 2, 4
"""Words of what needs what was said before, and of what may stand near it."""
_FEW_HITS, _BROADER = 2, 3
"""Passages from which on a search found enough, and the most words of a broader one."""
_ENDED = (Status.COMPLETED, Status.FAILED, Status.SKIPPED, Status.BLOCKED)
"""How a step stands that answers nothing any more, where it found nothing."""
_ONE = Message("{} found only one passage, so another search with broader terms is proposed.")
_NONE = Message("{} found no passage, so another search with broader terms is proposed.")
_NO_ROWS = Message("{} found no answer in the tables, so a search of the documents is proposed.")


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a text asks in a session.

    Args:
        question: whole, with what it leaves out of the last one.
        last: the step that it goes on from; None for a question of its own.
        after: the steps whose results it is answered from.
        given: the input of the last command or team, where that is called again.
        scene: where it is asked.
    """

    question: str
    scene: Scene
    last: SupervisorTodo | None = None
    after: tuple[str, ...] = ()
    given: JsonObject = field(default_factory=dict)


def continued(revision: PlanRevision, text: str, *, alone: bool = False, users: Sequence[str] | None = None) -> str:
    """Add the steps that a question or a task asks for in a session that has answered one, and return what they do.

    Where it asks for nothing, nothing is added, and the text that is returned is empty.

    Args:
        alone: the words go on from nothing.
        users: steps that had better wait for the new ones; see `PlanRevision.add`.
    """
    scene, text, notes = revision.scene, text.strip(), list[str]()
    asked = _asked_in(text, scene, alone=alone)
    if asked is None:
        return ""
    if asked.last is not None and asked.given and (facts := scene.facts_of(asked.last)) is not None:
        revision.add(run_step(Call(facts, asked.given, asked.question), scene.language), asked.after, users=users)
    else:
        wanted = Wanted(asked.question, read(asked.question), CalledCommands(()), asked.scene)
        wanted.add_to(revision, asked.after, users)
        notes = wanted.remarks()
    asks_now = cut(text.strip(" \n."), 100)
    added = Message("Adds steps that answer: {}", asks_now)
    if asked.last is not None:
        added = Message("Adds steps that go on from {}: {}", step_name(asked.last.id), asks_now)
    return joined([added, *notes], ". ")


def _asked_in(text: str, scene: Scene, *, alone: bool) -> _Asked | None:
    """Return what a text asks; None for nothing. A question about a table is asked of that."""
    try:
        reading = read(text)
    except BadInput:
        return None
    table = None if alone else scene.table_asked
    parts = questions_in(text) or [text]
    if table is not None and any(scene.of_tables(one)[0] != TEXT for one in parts):
        return _Asked(text, scene, table if any(scene.of_tables(one)[1] for one in parts) else None)
    last, rest = _last(scene), rules().follow.lead.sub("", text)
    terms = [term for term in terms_of(rest) if term.lower() not in lexicon().chatter]
    few = len([term for term in terms if not (rules().follow.means.match(term) or is_question_word(term))]) <= _FEW
    # What says enough is a question, however it is put.
    wants = "?" in text or reading.needs or deeds_asked(text)
    if last is None or (few and rest == text and not (wants or alone)):
        tabled = not alone and any(scene.of_tables(one)[0] == TABLE for one in parts)
        return _Asked(text, scene) if tabled else None
    led = rest != text and not rules().follow.turn.match(text)
    said = (rules().follow.tail.sub("", rest) or rest).strip()
    whole = None if alone else _whole(said, rest, terms, last, scene, led=led, few=few)
    if whole is not None and (facts := scene.facts_of(last)) is not None:
        given = facts.given(changed_inputs(said, last, scene) or {})
        return _Asked(said, scene, last, _first(last, scene), given) if given else None
    known = [stem(term) for term in terms_of(_before(last, scene))]
    shares = len(terms) <= _SHORT and any(alike(stem(term), one) for term in terms for one in known)
    near = whole or led or shares or refers(text) or (few and rules().follow.auxiliary.match(rest))
    after = _first(last, scene) if near else ()
    if alone:
        scene = replace(scene, todos=())
    if table is not None:  # it isn't about that; what is computed goes on from no table that knows nothing of it
        scene = replace(scene, tables=Tables())
        if after and Need.COMPUTE in Wanted(whole or rest, read(whole or rest), CalledCommands(()), scene).needs:
            return _Asked(text, scene)
    return _Asked(whole or rest, scene, last if after or whole else None, after)


def _whole(
    said: str, rest: str, terms: Sequence[str], last: SupervisorTodo, scene: Scene, *, led: bool, few: bool
) -> str | None:
    """Return a question with what it leaves out of the last one; None for one that goes on from nothing."""
    compute = scene.agent_for(Need.COMPUTE)
    # What can be worked out from its own figures needs nothing that was said before.
    by_itself = compute is not None and compute.concern(rest) is Concern.ALONE
    if by_itself or not (led or few or rules().follow.case.fullmatch(said)):
        return None
    before = _before(last, scene)
    if not led and _is_foreign(terms, before):
        return None
    whole, replaced = merged(before, said)
    # What is the same question of something else goes on, however much it says by itself.
    return whole if (led and replaced and not rest.isascii()) or not _stands_alone(rest, led=led) else None


def _before(last: SupervisorTodo, scene: Scene) -> str:
    """Return what was asked last: the session's whole question, or one of several that were asked at once."""
    before, query = str(last.arguments.get("query") or scene.query), before_report(scene.query)
    return query if before in query else before


def _first(last: SupervisorTodo, scene: Scene) -> tuple[str, ...]:
    """Return the steps that found what a question goes on from: all searches of several that were asked at once."""
    if last.status is not Status.COMPLETED:
        return ()
    before = _before(last, scene)
    once = [t.id for t in scene.of(Need.FIND) if t.status is Status.COMPLETED and str(t.arguments["query"]) in before]
    return tuple(dict.fromkeys((*(once if once[1:] else ()), last.id)))


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
    given = facts.given(todo.arguments)
    return facts.inputs({**given, **call.parameters}) if call.parameters and given is not None else None


# A broader search (D14) ---------------------------------------------------------------------------------------------


def follow_up_search(scene: Scene, todo: SupervisorTodo, result: JsonObject) -> Proposed | None:
    """Propose a search for the words that say most after one that found too little, once per TODO.

    Where a word of the question stands in no document, nothing found is the answer, and nothing is proposed; nor is it
    where a table answers the question, or may still, or one that is named has no answer. A question that no table
    answers is looked for in the documents, unless it has to be worked out.

    Args:
        result: its `TeamResult` as a dict; `data` says how many `hits` there are, whether they only come near
            (`weak`), which words no document has (`missing`), and how many documents were `searched`.
    """
    facts, data, asked = scene.agent_for(Need.FIND), result.get("data"), todo.arguments.get("query")
    if facts is None or FOLLOW_UP_OF in todo.metadata or not isinstance(data, dict):
        return None
    if isinstance(table := data.get("table"), dict) and table.get("settled"):
        return None
    if todo.agent_name == facts.team:
        hits = data.get("hits")
        enough = type(hits) is not int or hits >= _FEW_HITS or (hits and data.get("weak") is False)
        tables = [t for t in scene.of(Need.COMPUTE) if t.arguments.get("query") == asked]
        tables = [t for t in tables if todo.id not in t.dependencies]  # they answer the question without the search
        answered = any(t.status not in _ENDED or (t.result or {}).get("found") for t in tables)
        missing = tuple(str(word).lower() for word in data.get("missing") or ())
        nothing = enough or data.get("searched") == 0 or answered
        return None if nothing else _broader(scene, todo, _ONE if hits else _NONE, missing)
    if result.get("found") is not False or not scene.is_of(todo, Need.COMPUTE) or todo.dependencies:
        return None
    searched = [t for t in scene.of(Need.FIND) if t.arguments.get("query") == asked]
    for search in searched:
        if search.status is Status.COMPLETED and (search.result or {}).get("found") is False:
            return _broader(scene, search, _NONE)
    return None if searched or is_worked_out(str(asked)) else _search_for(str(asked), _NO_ROWS, scene, todo)


def _broader(scene: Scene, todo: SupervisorTodo, why: Message, missing: tuple[str, ...] = ()) -> Proposed | None:
    """Propose a search for the words of a search that say most, once; `missing` ones stand in no document."""
    asked = shown(str(todo.arguments.get("query") or scene.query))
    terms = terms_of(asked)
    named = [term for term in terms if not any(map(str.isdigit, term))]
    most = sorted(named, key=says, reverse=True)[:_BROADER]
    words = [term for term in named if term in most]
    # The same words would find the same again, and one alone anything.
    useful = 1 < len(words) < len(terms) and not any(word.lower().startswith(missing) for word in words)
    broader = " ".join(words)
    done = any(t.metadata.get(FOLLOW_UP_OF) == todo.id for t in scene.todos)
    done = done or any(t.arguments.get("query") == broader for t in scene.of(Need.FIND))
    return _search_for(broader, why, scene, todo) if useful and not done else None


def _search_for(words: str, why: Message, scene: Scene, todo: SupervisorTodo) -> Proposed:
    revision, language = PlanRevision(scene), language_of(str(todo.arguments.get("query") or scene.query))
    revision.add(look_step(Need.FIND, words, language, title_of(words)), (), {FOLLOW_UP_OF: todo.id})
    return Proposed(why.filled(step_name(todo.id)), tuple(revision.changes("")))


# A question put together from the last one and from what is said now

_BRACKET = re.compile(r"\([^()]*\)")
_SIDE_BY_SIDE = re.compile(rf"(?:{_BRACKET.pattern})? (?:& )?")
_LETTER = re.compile(r" [A-HJ-Z](?![\w'])")
_SUBJECT = ("은", "는", "이", "가")
_AGREES = (*_SUBJECT, "을", "를", "와", "과", "로", "으로")
"""Particles that go with how a word ends."""
_SAYS = 0.3
"""How telling a word has to be to name what a question is about."""
_LIKE, _LIKELY, _SURE = 0.45, 0.65, 1.2
"""How like something has to be to what is only named, to what is asked of it anew, and to what says more."""
_MOST, _HELD = 4, 400
"""Words side by side that others stand for together, and places of a question that they may stand for."""


@dataclass(frozen=True, slots=True)
class Part:
    """Words of a text that name or give something, side by side.

    Args:
        text: the words, without their particle.
        place: where they stand.
        kind: of what is given; what is of one kind can stand for another.
        by: the English preposition before them.
        begins: where that begins.
        particle: the Korean one after them.
        asked: they are what the question asks for: "which port".
        topic: the sentence is about them, by the particle.
        size: how many they are.
        first: none of those beside them stands before them.
        whole: nothing else stands beside them.
    """

    text: str
    place: Span
    kind: str = ""
    by: str = ""
    begins: int = 0
    particle: str = ""
    asked: bool = False
    topic: bool = False
    size: int = 1
    first: bool = True
    whole: bool = True

    def likeness(self, other: Part, meaning: float, least: float) -> float:
        """Return how surely other words, so alike in what they mean, stand for these: 0 for not at all.

        Args:
            least: how alike they have to be where nothing else tells that.
        """
        alike = self.kind == other.kind != "" or (self.kind.startswith("number ") and other.kind == "number ")
        particle = other.particle.removesuffix("는") if len(other.particle) > 1 else other.particle
        told = 1.0 * (alike and (self.size > 1) == (other.size > 1))
        told += 1.0 * (self.first and stem(self.text.split()[-1]) == stem(other.text.split()[-1]))
        told += 0.3 * (self.particle == particle not in ("", *_SUBJECT))
        if not told and meaning < least:
            return 0.0
        score = meaning + told + 0.25 * self.topic + 0.2 * says(self.text) + 0.1 * self.first + 0.1 * (self.size > 1)
        score += 0.3 * (self.by == other.by != "") + 0.1 * bool(self.by)
        score += 0.2 * (self.text[0].isupper() and other.text[0].isupper())
        score -= 0.25 * (self.asked and not other.asked) + 0.5 * (self.size > 1 and self.kind != "" == other.kind)
        return score - ((self.kind == "which") != (other.kind == "which"))


def says(text: str) -> float:
    """Return how much the word of a text says that says most."""
    return max(telling(word, "en" if word.isascii() else "ko") for word in text.split())


def asks(text: str) -> bool:
    """Whether words ask or tell with a word for that."""
    told = rules().follow.asks.match(text) or rules().says.howto.search(text) or requested(text)
    return bool(told or any(is_question_word(match[0]) for match in WORD.finditer(text)))


def merged(before: str, said: str, *, anew: bool = True) -> tuple[str, bool]:
    """Return the last question with what is said now in the place of what it stands for.

    That is what of the last question is most like it: in what it means, of the same kind, with the same last word, in
    the same part of the sentence. It brings its own preposition, but for "for", which only leads over. A case stands
    for a case; one that says nothing but a figure ("if it was 4") stands for the last figure of its kind. What asks
    anew is asked of what the last question names.

    Args:
        said: what is said now, without the words that lead over to it.
        anew: it may ask anew; else it is what the question is to be about, whatever that was.

    Returns:
        The question, and whether a place was found; where none was, the last question is followed by what is said.
    """
    follow = rules().follow
    if follow.case.fullmatch(said):
        figures = [one for one in given_in(said) if one.kind == "number"]
        measures = {one.measure for one in given_in(before) if one.kind == "number"}
        same = bool(measures) and all(one.measure in ("", *measures) for one in figures)
        if len(figures) != 1 or not same or any(not one.kind for one in named_in(said)):
            if other := follow.case.search(before):
                return f"{before[: other.start()]}{said}{before[other.end() :]}", True
            return (f"{before.rstrip(' ?.!')} {said}", False) if said.isascii() else (f"{said} {before}", True)
        said = said[slice(*figures[0].place)]
    now = follow.ones.sub("", said)
    start = role.end() if (role := follow.role.match(now)) else 0
    named, asks_anew = named_in(now), anew and asks(said)
    if not now[start:].strip():
        return before, False
    means = follow.means.search(said) and not said.lower().startswith(("why", "왜"))
    if asks_anew and (means or any(one.kind != "which" for one in named)):
        return _asked_anew(before, said)
    last = now[start:].rpartition(" ")[2]
    end = len(now) - len(last) + len(lexicon().bare(last))
    alone = next((one for one in _spans(now) if one.whole and one.place == (start, end)), None)
    kind = next((one.kind for one in named if one.kind), "")
    part = _part(now, (start, end), kind, now[end:])
    part = replace(part, size=alone.size if alone else len(part.text.split()))
    whole, found = _replaced(before, part, now, (_LIKE if anew else 0.0) if alone else _SURE)
    says_all = part.by not in ("", "for", "of", "about") or asks_anew
    return (whole, True) if found else (f"{before.rstrip(' ?.!')} {said.strip() if says_all else part.text}", False)


def _asked_anew(before: str, said: str) -> tuple[str, bool]:
    """Return what is asked now of what the last question names, or the same as that asked of what is named now."""
    whole, left = before, {part.text for part in named_in(before) if part.kind != "which"}
    every = True
    for one in (span for span in _spans(said) if span.whole):
        predicate = one.place[1] == len(said) and not said.isascii()
        if predicate or one.kind == "which" or one.text in before or said[: one.place[0]].endswith("그 "):
            continue
        other, found = _replaced(whole, one, said, _LIKELY)
        left &= {part.text for part in named_in(other)} - {one.text}
        whole, every = other, every and found
    words = _question_words(said)
    if every and words and words <= _question_words(before):
        return whole, True
    about = " ".join(part.text for part in named_in(before) if part.text in left)
    return f"{about}: {said}?" if about else said, False


def _question_words(text: str) -> set[str]:
    korean = {match[0][0] for match in WORD.finditer(text) if is_question_word(match[0])}
    return korean | {word.casefold() for word in rules().follow.question.findall(text)}


def _replaced(before: str, part: Part, said: str, least: float) -> tuple[str, bool]:
    """Return a question with words in the place of those that they are most like, if there are some that they are like.

    Args:
        part, said: the words, and the text that they stand in.
        least: how like they have to be.
    """
    # With a preposition of its own it stands beside what has no such word itself.
    adds = part.kind in ("", "place", "when") and part.by not in ("", "for", "of", "about")
    held = [one for one in islice(_spans(before), _HELD) if one.text != part.text and (one.by or not adds)]
    likes = likenesses(part.text, [one.text for one in held]) if held else []
    rated = {one: one.likeness(part, like, 0.4 * least) for one, like in zip(held, likes, strict=True)}
    best = [one for one, score in rated.items() if least <= score == max(rated.values())]
    if not best or len({one.text for one in best}) > 1:
        return before, False
    for one in reversed(best):
        start, end = one.place
        bracket = _BRACKET.match(before, end)
        end = bracket.end() if bracket else end
        particle = part.particle if one.particle in _AGREES and part.particle in _AGREES else one.particle
        own = part.by not in ("", "for", one.by) and one.by != ""
        start, now = (one.begins, said[part.begins : part.place[1]]) if own else (start, part.text)
        if part.kind == "number " and part.size == 1:
            now += _unit_of(before, one.place)
        ahead, behind = before[:start], before[end + len(one.particle) :]
        lead, rest = ahead.rstrip().rpartition(" ")[2], now.partition(" ")
        now = rest[2] if rest[2] and lead.casefold() == rest[0].casefold() else now  # "the most" stands there already
        before = f"{ahead}{now}{particle}{behind}"
    return before, True


def _unit_of(text: str, place: Span) -> str:
    """Return the unit of a number that stands in a text, with the space before it."""
    held = (one for one in given_in(text) if one.stop and one.place[1] == place[1])
    return next((text[one.stop : place[1]] for one in held), "")


# What a text names ---------------------------------------------------------------------------------------------------


def named_in(text: str) -> list[Part]:
    """Return what a text gives, and the words that name something, one by one."""
    given, brackets = given_in(text), [match.span() for match in _BRACKET.finditer(text)]
    found = [_part(text, g.place, f"{g.kind} {g.measure}") for g in given]
    for match in WORD.finditer(text):
        word = lexicon().bare(match.group())
        start, end = match.start(), match.start() + len(word)
        if (same := next((one for one in found if one.place[0] == start), None)) and "number" in same.kind:
            found[found.index(same)] = _part(text, (start, max(end, same.place[1])), same.kind)  # "2급"
        end += 2 * (_LETTER.match(text, end) is not None)
        kinds = {"place": rules().follow.place, "when": rules().follow.when}
        kind = next((kind for kind, called in kinds.items() if called.fullmatch(word)), "")
        named = kind or (term_of(word) and says(word) >= _SAYS)
        names = named and not rules().follow.verbal.search(match[0])
        tells = text[:start].strip() and rules().follow.predicate.match(text, start)
        verbal = tells or is_past(word) or is_question_word(word)
        if names and not verbal and not overlaps((start, end), [*brackets, *(one.place for one in found)]):
            which = match[0] == word and rules().follow.which.match(text, max(start, end - 2)) is not None
            kind = kind or ("which" if which else "")
            found.append(_part(text, (start, end), kind, match.group()[len(word) :]))
    return sorted(found, key=lambda one: one.place)


def _part(text: str, place: Span, kind: str, particle: str = "") -> Part:
    before, words = text[: place[0]], rules().follow
    by, asked = words.by.search(before), words.wanted.search(before) or words.wanted_behind.match(text, place[1])
    said, begins = (by["by"].lower(), by.start()) if by else ("", place[0])
    return Part(text[slice(*place)], place, kind, said, begins, particle, asked is not None)


def _spans(text: str) -> Iterator[Part]:
    """Yield what a text names: alone, and with what stands beside it."""
    for group in _groups(text, named_in(text)):
        for start, end in combinations(range(len(group) + 1), 2):
            some, whole = group[start:end], (start, end) == (0, len(group))
            if len(some) > _MOST and not whole:
                continue
            kinds = [one.kind for one in some if one.kind]
            place = (some[0].place[0], some[-1].place[1])
            yield replace(
                some[0],
                text=text[slice(*place)],
                place=place,
                kind=kinds[0] if len(kinds) == 1 else "",
                particle=some[-1].particle,
                topic=group[-1].particle in _SUBJECT[:2] and (start == 0 or end == len(group)),
                size=len(some),
                first=start == 0,
                whole=whole,
            )


def _groups(text: str, named: Sequence[Part]) -> Iterator[list[Part]]:
    """Yield what stands side by side."""
    group = [*named[:1]]
    for one, other in pairwise(named):
        cases = one.text.isascii() and other.text.isascii() and not (one.kind or other.kind)
        apart = one.particle != "" or not {"when", "which"}.isdisjoint((one.kind, other.kind))
        apart = apart or (cases and one.text[0].isupper() != other.text[0].isupper())
        if apart or not _SIDE_BY_SIDE.fullmatch(text[one.place[1] : other.place[0]]):
            yield group
            group = []
        group.append(other)
    if group:
        yield group
