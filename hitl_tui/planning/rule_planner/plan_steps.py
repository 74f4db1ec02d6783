"""Steps of a plan, made of what a query needs, and what a person has to know of it: what nothing was made of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from hitl_tui.core.errors import PlanError
from hitl_tui.core.json_types import JsonObject, TodoMetadata
from hitl_tui.core.messages import Message
from hitl_tui.core.plan import AgentFacts, Concern, ExecutionPlan, ExecutionStep, Intent, Strategy
from hitl_tui.core.short_titles import short_title
from hitl_tui.planning.proposals import Planned
from hitl_tui.planning.rule_planner.arguments import Call
from hitl_tui.planning.rule_planner.calls import Asked, deeds_asked, spoken_name
from hitl_tui.planning.rule_planner.draft import Draft, Scene
from hitl_tui.planning.rule_planner.query_reader import (
    Reading,
    cut,
    entities_in,
    read,
    report_subject,
    score_of,
    shown,
    split,
    terms_of,
    unread,
    wants,
)
from hitl_tui.planning.rule_planner.rule_file import Need, rules

_TITLE, _REPORT_TITLE = 56, 100
"""Cells of a step's title, and of a report's, which stands alone on its line."""
MOST_QUERY, _TASK, _KEYWORDS = 8000, 400, 12
"""Characters of a query that a team is given, and that a task repeats; words that an intent has."""


def title_of(text: str) -> str:
    """Return a title for a step about a text: a few of its words as they were asked; see `short_title`."""
    return short_title(shown(text), _TITLE)


def subject_of(text: str) -> str:
    """Return what a report on a question is called: what it is to be on, without the words that ask for it."""
    text = shown(text)
    asked = before_report(text)
    named = report_subject(text) or rules().revise.told.sub("", asked).strip() or asked
    title = short_title(named, _REPORT_TITLE)
    return title[:1].upper() + title[1:] if title[:1].isascii() else title


def before_report(text: str) -> str:
    """Return a text up to the clause that asks for a report."""
    end = 0
    for clause in split(text, ()):
        if end and wants(clause.text, Need.WRITE):
            return text[: end + (text[end : end + 1] == "?")]
        end = clause.end
    return text


@dataclass(frozen=True, slots=True)
class Part:
    """What a query asks for beside its calls: a question, or what is said between two calls."""

    text: str
    start: int
    needs: frozenset[Need]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a query needs: the calls and what is asked besides, in the order they were said."""

    query: str
    reading: Reading
    asked: Asked
    needs: frozenset[Need]
    parts: tuple[Call | Part, ...]
    file: str = ""

    @property
    def calls(self) -> list[Call]:
        return [part for part in self.parts if isinstance(part, Call)]

    def reports(self, text: str) -> bool:
        """Whether a text asks for the report that is planned."""
        return Need.WRITE in self.needs and score_of(text, Need.WRITE) > 0


_LONGEST = 100  # characters of what a person wrote that a remark repeats
_NAMED = 3  # clauses that one remark repeats
_QUESTION = re.compile(r"(?<=[?？])\s+")


def planned(scene: Scene, reading: Reading, asked: Asked, *, file: str = "", withheld: Sequence[str] = ()) -> Planned:
    """Return intent and plan of the query of a session that has no plan yet.

    Args:
        file: what a report is to be; empty for a name of its own.
        withheld: names of what could be called if the folder were trusted.
    """
    draft, wanted = Draft(scene), _wanted(scene, reading, asked, file)
    notes = _grow(draft, wanted, withheld=withheld)
    return Planned(_intent(wanted), _finished(draft.steps, reading.strategy), notes)


def grow(draft: Draft, query: str, *, after: Sequence[str], users: Sequence[str] | None) -> tuple[str, ...]:
    """Add the steps that a further question needs, between others, and return what a person should know."""
    wanted = _wanted(replace(draft.scene, query=query), read(query), Asked(()))
    return _grow(draft, wanted, after=after, users=users)


def _wanted(scene: Scene, reading: Reading, asked: Asked, file: str = "") -> _Wanted:
    """Return what a query needs: whatever isn't understood otherwise is looked for in the documents."""
    needs, parts = set[Need](), list[Call | Part]()
    if asked.calls:
        parts = sorted([*asked.calls, *_beside(reading.text, asked)], key=lambda part: part.start)
        needs = {Need.RUN, *(reading.needs & {Need.WRITE})}
    else:
        said = _questions(reading.text)
        texts = said if len(said) > 1 else [scene.query]
        parts += [Part(text, n, _needs(text, scene.agents)) for n, text in enumerate(texts)]
    needs |= {need for part in parts if isinstance(part, Part) for need in part.needs}
    return _Wanted(scene.query, reading, asked, frozenset(needs), tuple(parts), file)


def _questions(text: str) -> list[str]:
    """Return each question of a text that asks several; nothing where one of them says nothing by itself."""
    said = [one for part in _QUESTION.split(text.strip()) for one in _both(part)]
    if said[1:] and not said[-1].endswith(("?", "？")):
        if not wants(said[-1], Need.WRITE):
            return []
        said[-2:] = [f"{said[-2]} {said[-1]}"]
    return said if all(terms_of(part) for part in said) else []


def _both(text: str) -> list[str]:
    """Return the two questions that one sentence asks, where each can be answered without the other."""
    both = rules().says.both.match(text) or rules().says.both_korean.match(text)
    if both is None or rules().says.goes_on.search(text):
        return [text]
    one = both["one"]
    if not terms_of(both["other"]):
        return [text]
    if both.re is rules().says.both_korean:
        noun = re.sub("이?[고며],?$", "", one) if both["noun"] else ""
        one = f"{noun}인가요" if noun else re.sub("[고며],?$", "나요", one)
    return [f"{one}?", both["other"]]


def _needs(text: str, agents: Mapping[str, AgentFacts]) -> frozenset[Need]:
    """Return what a question needs: what its words name, and an analysis where the team for it is concerned."""
    reading = read(text)
    needs = reading.needs - {Need.FIND}
    facts = agents.get(rules().steps[Need.COMPUTE].agent)
    concern = facts.concern(reading.text) if facts and score_of(text, Need.COMPUTE) >= 0 else Concern.NONE
    if concern is not Concern.NONE:
        needs.add(Need.COMPUTE)
    return frozenset(needs if concern is Concern.ALONE else {*needs, Need.FIND})


def _beside(text: str, asked: Asked) -> list[Call | Part]:
    """Return what is said between the calls that needs a search or an analysis, in order."""
    found: list[Call | Part] = []
    borders = [0, *(call.start for call in asked.calls), len(text) + 1]
    for start, end in pairwise(borders):
        beside = [c for c in asked.beside if start <= c.start < end]
        said = text[beside[0].start : beside[-1].end + 1].strip(" \n,;") if beside else ""
        needs = {Need.COMPUTE} if wants(said, Need.COMPUTE) else set[Need]()
        # Words that merely ask are about the calls themselves.
        looks = score_of(said, Need.FIND) > rules().threshold[Need.FIND]
        if looks or (needs and not of_commands(said)):
            needs.add(Need.FIND)
        if needs:
            found.append(Part(said, beside[0].start, frozenset(needs)))
    return found


def of_commands(text: str) -> bool:
    """Whether a computation is about what commands change: "how much space was freed"."""
    return rules().revise.measured.search(text) is not None


def _intent(wanted: _Wanted) -> Intent:
    """Return the intent: its type follows from the needs, its confidence from whether words of it were recognised."""
    reading = wanted.reading
    said = [*(call.command for call in wanted.calls), *terms_of(reading.text)]
    understood = wanted.calls or any(score_of(reading.text, need) >= 1.0 for need in rules().needs)
    return Intent(
        type=intent_type(wanted.needs),
        confidence=0.9 if understood else 0.5,
        keywords=tuple(dict.fromkeys(said))[:_KEYWORDS],
        entities=entities_in(reading.text),
        language=reading.language,
    )


def intent_type(needs: frozenset[Need]) -> str:
    """Return the name of what is needed: search, analysis, comprehensive, document, command or mixed."""
    if Need.RUN in needs:
        return "command" if needs == {Need.RUN} else "mixed"
    if {Need.FIND, Need.COMPUTE} <= needs:
        return "comprehensive"
    if Need.WRITE in needs:
        return "document"
    return "analysis" if Need.COMPUTE in needs else "search"


def _usable(needs: frozenset[Need], agents: Mapping[str, AgentFacts]) -> tuple[set[Need], list[str]]:
    """Return the needs that an enabled agent can meet, and the agents that are missing."""
    wanted = {need: rules().steps[need].agent for need in Need if need in needs}
    met = {need for need, agent in wanted.items() if agent in agents and agents[agent].enabled}
    missing = [agent for need, agent in wanted.items() if need not in met]
    if not met:
        lacking = " and ".join(missing)
        raise PlanError(Message("Nothing can be planned, because this needs {}, which is disabled.", lacking))
    return met, missing


def _grow(
    draft: Draft,
    wanted: _Wanted,
    *,
    after: Sequence[str] = (),
    users: Sequence[str] | None = (),
    withheld: Sequence[str] = (),
) -> tuple[str, ...]:
    """Add the steps for what is needed, in the order it was said: analyses after their searches, the report last."""
    language, strategy = wanted.reading.language, wanted.reading.strategy
    met, missing = _usable(wanted.needs, draft.scene.agents)
    notes = tuple(_remarks(wanted, missing, withheld))
    added, ran, end = list[str](), list[str](), 0

    def add(step: ExecutionStep, sources: Sequence[str]) -> list[str]:
        metadata: TodoMetadata = {"remarks": [*notes]} if notes and not added else {}
        added.append(draft.add(step, [*after, *sources], metadata, users))
        return added[-1:]

    for part in wanted.parts:
        ordered = rules().says.order_cue.search(wanted.reading.text[max(0, end - 1) : part.start + 12])
        follows = wanted.calls and (ordered or (isinstance(part, Call) and part.facts.own))
        last = added[-1:] if follows else []
        if isinstance(part, Call):
            if Need.RUN in met:
                ran += add(run_step(part, language), last or ([] if strategy is Strategy.PARALLEL else ran[-1:]))
            end = part.end
            continue
        titled = draft.scene.todos or len(wanted.parts) > 1
        title = title_of(part.text) if titled else ""
        looks = Need.FIND in met & part.needs
        found = add(look_step(Need.FIND, part.text, language, title), last) if looks else []
        if Need.COMPUTE in met & part.needs:
            before = ran if wanted.calls and of_commands(part.text) else last
            add(look_step(Need.COMPUTE, part.text, language, title), [*before, *found])
    if Need.WRITE in met:
        add(write_step(wanted.query, language, wanted.file), [*added])
    return notes


def _finished(steps: Sequence[ExecutionStep], strategy: Strategy) -> ExecutionPlan:
    """Return the plan of these steps, with the groups that may run together and the time of the longest chain."""
    seconds = {rule.agent: rule.seconds for rule in rules().steps.values()}
    levels, ends, last = dict[str, int](), dict[str, float](), tuple[str, ...]()
    for step in steps:
        before = last if strategy is Strategy.SEQUENTIAL else step.dependencies
        levels[step.id] = 1 + max((levels[d] for d in before), default=-1)
        ends[step.id] = seconds.get(step.agent, 0.0) + max((ends[d] for d in before), default=0.0)
        last = (step.id,)
    together = (tuple(name for name, level in levels.items() if level == n) for n in range(len(steps)))
    groups = tuple(group for group in together if len(group) > 1)
    return ExecutionPlan(tuple(steps), strategy, groups, max(ends.values(), default=0.0))


def _step(need: Need, query: str, language: str, title: str, inputs: JsonObject) -> ExecutionStep:
    rule = rules().steps[need]
    return ExecutionStep(
        agent=rule.agent,
        name=f"{rule.name[language]}: {title}" if title else rule.name[language],
        task=rule.task[language].replace("{query}", cut(query, _TASK)),
        timeout=rule.timeout,
        input_mapping=dict(inputs),
        purpose=rule.purpose[language],
        expected_output=rule.expected_output[language],
    )


def look_step(need: Need, query: str, language: str, title: str) -> ExecutionStep:
    """Return a search or an analysis for a query, up to a bound; its title is empty for the whole question's."""
    return _step(need, query, language, title, {"query": query.strip()[:MOST_QUERY]})


def write_step(query: str, language: str, file: str = "") -> ExecutionStep:
    """Return the report on the question of the whole plan, in a file that is named."""
    inputs = {"title": subject_of(query)} | ({"path": file} if file else {})
    return _step(Need.WRITE, query, language, "", inputs)


def run_step(call: Call, language: str) -> ExecutionStep:
    """Return the step that calls a command or a team with exactly these arguments."""
    facts = call.facts
    if facts.own:
        titled = facts.titles.get(language) or title_of(call.words or facts.name)
        inputs: JsonObject = {} if facts.words else {"input": dict(call.parameters)}
        return ExecutionStep(facts.name, call.words or facts.name, titled, input_mapping=inputs, unplaced=call.unplaced)
    inputs = {"command": call.command, "parameters": dict(call.parameters)}
    said = " ".join([call.command, *(f"{name}={value}" for name, value in call.parameters.items())])
    step = _step(Need.RUN, said, language, "", inputs)
    return replace(step, name=facts.titles.get(language, call.command), unplaced=call.unplaced)


# What nothing was made of -------------------------------------------------------------------------------------------


def _remarks(wanted: _Wanted, missing: Sequence[str], withheld: Sequence[str]) -> list[str]:
    """Return what a person should know of a plan, a sentence each."""
    asked, words, text = wanted.asked, rules().sentences[wanted.reading.language], wanted.reading.text
    found = [words["disabled"].format(agent=agent) for agent in missing]
    found += left_out(asked, wanted.reading.language)
    said = [clause.text for clause in asked.beside] if asked.calls else [text]
    deeds = [deed for one in said for deed in deeds_asked(one)]
    if not asked.calls and withheld and (deeds or any(spoken_name(name).search(text) for name in withheld)):
        found.append(words["untrusted"].format(names=cut(", ".join(withheld), _LONGEST)))
    elif not wanted.needs & {Need.FIND, Need.COMPUTE}:
        found += [words["unplanned"].format(part=cut(one, _LONGEST)) for one in said if unread(one, ())]
    elif not asked.unclear and (deeds := [deed for deed in deeds if not wanted.reports(deed)]):
        found.append(words["only_looks"].format(part='", "'.join(cut(deed, _LONGEST) for deed in deeds[:_NAMED])))
    return list(dict.fromkeys(found))


def left_out(asked: Asked, language: str) -> Iterator[str]:
    """Yield what of the words about commands was left out, a sentence each."""
    left = [("without", call.command, part) for call in asked.calls for part in call.unread]
    left += [("unclear", command, part) for part, command in asked.unclear]
    for why, command, part in left:
        yield rules().sentences[language][why].format(command=command, part=cut(part, _LONGEST))
