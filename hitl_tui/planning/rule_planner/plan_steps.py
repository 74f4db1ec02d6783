"""Steps of a plan, made of what a query needs, and what a person has to know of it: what nothing was made of."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise

from hitl_tui.core.errors import PlanError
from hitl_tui.core.json_types import JsonObject, TodoMetadata
from hitl_tui.core.messages import Message
from hitl_tui.core.names import titled
from hitl_tui.core.plan import AgentFacts, Concern, ExecutionPlan, ExecutionStep, Intent, Strategy
from hitl_tui.core.safe_text import cell_width
from hitl_tui.core.short_titles import short_title
from hitl_tui.core.step_heads import headed
from hitl_tui.planning.proposals import Planned
from hitl_tui.planning.rule_planner.arguments import Call
from hitl_tui.planning.rule_planner.calls import CalledCommands, deeds_asked, spoken_name
from hitl_tui.planning.rule_planner.plan_revision import PlanRevision, Scene
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
from hitl_tui.planning.rule_planner.rule_file import Need, StepRule, rules
from hitl_tui.planning.rule_planner.table_questions import LIMIT, TABLE, TABLES, TEXT

_TITLE, _APART, _REPORT_TITLE = 56, 28, 100
"""Cells of a step's title, of what tells it apart in it, and of a report's, which stands alone on its line."""
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
    """What a query asks for beside its calls: a question, or what is said between two calls.

    Args:
        about: what it is about; see `Scene.of_tables`.
        after: the step that asks the table which it goes on from.
        asks: what a table is asked.
    """

    text: str
    start: int
    needs: frozenset[Need]
    about: str = TEXT
    after: tuple[str, ...] = ()
    asks: str = ""


_LONGEST = 100  # characters of what a person wrote that a remark repeats
_NAMED = 3  # clauses that one remark repeats
_QUESTION = re.compile(r"(?<=[?？])\s+")


class Wanted:
    """What a query needs: calls and questions in the order they were said, and a report; of it steps are made.

    Whatever isn't understood otherwise is looked for in the documents.

    Args:
        query: as a whole.
        asked: what of it calls commands and teams.
        scene: the plan that it is asked beside.
        file: what a report is to be; empty for a name of its own.

    Attributes:
        needs: all that is needed, whether or not an agent is there for it.
        missing: the agents that aren't.

    Raises:
        PlanError: none is there.
    """

    def __init__(self, query: str, reading: Reading, asked: CalledCommands, scene: Scene, file: str = "") -> None:
        agents = scene.agents
        self.query, self.reading, self.asked, self.file = query, reading, asked, file
        self.parts, needs = list[Call | Part](), set[Need]()
        if asked.calls:
            self.parts = sorted([*asked.calls, *said_beside(reading.text, asked)], key=lambda part: part.start)
            needs = {Need.RUN, *(reading.needs & {Need.WRITE})}
        else:
            said, needs = questions_in(reading.text), reading.needs & {Need.WRITE}
            self.parts += [Part(text, n, _needs(text, agents)) for n, text in enumerate(said or [query])]
        self.needs = needs.union(*(part.needs for part in self.parts if isinstance(part, Part)))
        agent = {need: rules().steps[need].agent for need in Need if need in self.needs}
        self._met = {need for need, name in agent.items() if name in agents and agents[name].enabled}
        self.missing = [name for need, name in agent.items() if need not in self._met]
        if not self._met:
            lacking = " and ".join(self.missing)
            raise PlanError(Message("Nothing can be planned, because this needs {}, which is disabled.", lacking))
        asking = [one for one in self.parts if isinstance(one, Part) and one.needs & self._met]
        # What calls for a report is no part of what a table is asked.
        alone = Need.WRITE in self._met and not asking[1:]
        subject = (report_subject(query) or before_report(query)) if alone else ""
        for part in asking:
            about, goes_on = scene.of_tables(asks := subject or part.text)
            self.parts[self.parts.index(part)] = replace(part, about=about, after=goes_on, asks=asks)

    def add_to(self, revision: PlanRevision, after: Sequence[str] = (), users: Sequence[str] | None = ()) -> None:
        """Add steps to a plan, in the order it was said: analyses after their searches, the report last.

        Args:
            after, users: what they come after, and what uses what they find; see `PlanRevision.add`.
        """
        language, calls = self.reading.language, bool(self.asked.calls)
        titled, notes = revision.scene.todos or len(self.parts) > 1, self.remarks()
        added, ran, end = list[str](), list[str](), 0

        def add(step: ExecutionStep, sources: Sequence[str], after: Sequence[str] = after) -> list[str]:
            metadata: TodoMetadata = {"remarks": notes} if notes and not added else {}
            added.append(revision.add(step, [*after, *sources], metadata, users))
            return added[-1:]

        for part in self.parts:
            ordered = rules().says.order_cue.search(self.reading.text[max(0, end - 1) : part.start + 12])
            last = added[-1:] if calls and (ordered or (isinstance(part, Call) and part.facts.own)) else []
            if isinstance(part, Call):
                apart = self.reading.strategy is Strategy.PARALLEL
                ran += (
                    add(run_step(part, language), last or ([] if apart else ran[-1:])) if Need.RUN in self._met else []
                )
                end = part.end
                continue
            title, needs = title_of(part.text) if titled else "", part.needs & self._met
            looks = Need.FIND in needs and part.about != TABLE
            found = add(look_step(Need.FIND, part.text, language, title), last) if looks else []
            if part.about != TEXT:
                add(table_step(part.asks, language), [*last, *(found if part.about == LIMIT else [])], part.after)
            elif Need.COMPUTE in needs:
                before = ran if calls and of_commands(part.text) else last
                add(look_step(Need.COMPUTE, part.text, language, title), [*before, *found])
        if Need.WRITE in self._met:
            add(write_step(self.query, language, self.file), [*added])

    @property
    def intent(self) -> Intent:
        """Its type follows from the needs, its confidence from whether words of it were recognised."""
        reading, calls = self.reading, self.asked.calls
        said = [*(call.command for call in calls), *terms_of(reading.text)]
        understood = calls or any(score_of(reading.text, need) >= 1.0 for need in rules().needs)
        return Intent(
            type=intent_type(self.needs),
            confidence=0.9 if understood else 0.5,
            keywords=tuple(dict.fromkeys(said))[:_KEYWORDS],
            entities=entities_in(reading.text),
            language=reading.language,
        )

    def remarks(self, withheld: Sequence[str] = ()) -> list[str]:
        """Return what a person should know of the plan, a sentence each: above all what nothing was made of.

        Args:
            withheld: names of what could be called if the folder were trusted.
        """
        asked, words, text = self.asked, rules().sentences[self.reading.language], self.reading.text
        found = [words["disabled"].format(agent=agent) for agent in self.missing]
        found += unclear(asked, self.reading.language)
        said = [clause.text for clause in asked.beside] if asked.calls else [text]
        deeds = [deed for one in said for deed in deeds_asked(one)]
        if not asked.calls and withheld and (deeds or any(spoken_name(name).search(text) for name in withheld)):
            found.append(words["untrusted"].format(names=cut(", ".join(withheld), _LONGEST)))
        elif not self.needs & {Need.FIND, Need.COMPUTE}:
            found += [words["unplanned"].format(part=cut(one, _LONGEST)) for one in said if unread(one, ())]
        elif not asked.unclear:
            # What asks for the report that is planned is done.
            deeds = [one for one in deeds if Need.WRITE not in self.needs or score_of(one, Need.WRITE) <= 0][:_NAMED]
            parts = '", "'.join(cut(deed, _LONGEST) for deed in deeds)
            found += [words["only_looks"].format(part=parts)] if deeds else []
        return list(dict.fromkeys(found))


def planned(scene: Scene, wanted: Wanted, withheld: Sequence[str] = ()) -> Planned:
    """Return intent and plan of a query that begins a session."""
    revision = PlanRevision(scene)
    wanted.add_to(revision)
    return Planned(wanted.intent, _finished(revision.steps, wanted.reading.strategy), tuple(wanted.remarks(withheld)))


def questions_in(text: str) -> list[str]:
    """Return the questions of a text, without what asks for a report on them at its end.

    Nothing where it is one question, something else follows them, or one of them says nothing by itself.
    """
    said = [one for part in _QUESTION.split(text.strip()) for one in _both(part)]
    reported = said[1:] and not said[-1].endswith(("?", "？")) and wants(said[-1], Need.WRITE)
    asked = said[:-1] if reported else said
    apart = (reported or asked[1:]) and asked[-1].endswith(("?", "？")) and all(map(terms_of, asked))
    return asked if apart else []


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


def said_beside(text: str, asked: CalledCommands) -> list[Part]:
    """Return what is said between the calls that needs a search or an analysis, in order."""
    found: list[Part] = []
    borders = [0, *(call.start for call in asked.calls), len(text) + 1]
    for number, (start, end) in enumerate(pairwise(borders)):
        beside = [c for c in asked.beside if start <= c.start < end]
        last = beside[-1].end if beside else 0
        mark = text[last : last + 1] if beside else ""
        said = text[beside[0].start : last + (mark in (*".?!？",))].strip(" \n,;") if beside else ""
        needs = {Need.COMPUTE} if wants(said, Need.COMPUTE) else set[Need]()
        # Words that merely ask are about the calls themselves, but those ahead of all.
        score, least = score_of(said, Need.FIND), rules().threshold[Need.FIND]
        looks = score > least or (not number and score == least)
        if looks or (needs and not of_commands(said)):
            needs.add(Need.FIND)
        if needs:
            found.append(Part(said, beside[0].start, frozenset(needs)))
    return found


def of_commands(text: str) -> bool:
    """Whether a computation is about what commands change: "how much space was freed"."""
    return rules().revise.measured.search(text) is not None


def intent_type(needs: Set[Need]) -> str:
    """Return the name of what is needed: search, analysis, comprehensive, document, command or mixed."""
    if Need.RUN in needs:
        return "command" if needs == {Need.RUN} else "mixed"
    if {Need.FIND, Need.COMPUTE} <= needs:
        return "comprehensive"
    if Need.WRITE in needs:
        return "document"
    return "analysis" if Need.COMPUTE in needs else "search"


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


def _step(kind: str, rule: StepRule, query: str, language: str, title: str, inputs: JsonObject) -> ExecutionStep:
    return ExecutionStep(
        agent=rule.agent,
        name=headed(kind, language, title),
        task=rule.task[language].replace("{query}", cut(query, _TASK)),
        input_mapping=dict(inputs),
        purpose=rule.purpose[language],
        expected_output=rule.expected_output[language],
    )


def look_step(need: Need, query: str, language: str, title: str) -> ExecutionStep:
    """Return a search or an analysis for a query, up to a bound; its title is empty for the whole question's."""
    return _step(need, rules().steps[need], query, language, title, {"query": query.strip()[:MOST_QUERY]})


def table_step(query: str, language: str) -> ExecutionStep:
    """Return the question to the tables of the workspace."""
    inputs: JsonObject = {"query": query.strip()[:MOST_QUERY], "analysis_type": TABLES}
    return _step("table", rules().table, query, language, titled(query), inputs)


def write_step(query: str, language: str, file: str = "") -> ExecutionStep:
    """Return the report on the question of the whole plan, in a file that is named."""
    inputs = {"title": subject_of(query)} | ({"path": file} if file else {})
    return _step(Need.WRITE, rules().steps[Need.WRITE], query, language, "", inputs)


def run_step(call: Call, language: str) -> ExecutionStep:
    """Return the step that calls a command or a team with exactly these arguments."""
    facts = call.facts
    if facts.own:
        titled = facts.titles.get(language) or _told_apart(title_of(call.words or facts.name), call)
        inputs, words = facts.inputs(call.parameters), call.words or facts.name
        step = ExecutionStep(facts.name, words, titled, input_mapping=inputs)
    else:
        said = " ".join([call.command, *(f"{name}={value}" for name, value in call.parameters.items())])
        step = _step(Need.RUN, rules().steps[Need.RUN], said, language, "", facts.inputs(call.parameters))
        step = replace(step, name=_told_apart(facts.titles.get(language, call.command), call))
    left = tuple(cut(part, _LONGEST) for part in call.unread)
    return replace(step, unplaced=call.unplaced, unread=left, conditions=call.conditions)


def _told_apart(title: str, call: Call) -> str:
    """Return a title with what tells a call from the others of its list, where it doesn't say that."""
    said = rf"(?<![\w-]){re.escape(call.apart)}(?![A-Za-z0-9-])"
    if not call.apart or re.search(said, title):
        return title
    apart = call.apart if cell_width(call.apart) <= _APART else short_title(call.apart, _APART)
    return f"{short_title(title, _TITLE - cell_width(apart) - 2)}: {apart}"


def left_out(asked: CalledCommands, language: str) -> list[str]:
    """Return what of the words about commands was left out, a sentence each."""
    left = ((call.command, cut(part, _LONGEST)) for call in asked.calls for part in call.unread)
    told = [Message('{} is planned without regard to "{}".', command, part) for command, part in left]
    return [*told, *unclear(asked, language)]


def unclear(asked: CalledCommands, language: str) -> list[str]:
    """Return which clauses name a command and call none, a sentence each."""
    said = rules().sentences[language]["unclear"]
    return [said.format(command=command, part=cut(part, _LONGEST)) for part, command in asked.unclear]
