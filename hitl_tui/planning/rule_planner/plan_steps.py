"""Steps of a plan, made of what a query needs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from hitl_tui.core.errors import PlanError
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.core.plan import AgentFacts, ExecutionPlan, ExecutionStep, Intent, Strategy
from hitl_tui.core.short_titles import short_title
from hitl_tui.planning.rule_planner.command_requests import Call
from hitl_tui.planning.rule_planner.query_reader import (
    Reading,
    clauses,
    cut,
    entities_of,
    language_of,
    score_of,
    shown,
    term_of,
    terms_of,
)
from hitl_tui.planning.rule_planner.rule_file import Need, Rules

_ASIDE = re.compile(r"\([^()\n]{0,200}\)?|\[[^\[\]\n]{0,200}\]?|\{[^{}\n]{0,200}\}?")
_QUOTES = re.compile("[\"“”„«»‘`]|(?<![\\w])['’]|['’](?![\\w])")
_BRACKETS = re.compile(r"[()\[\]{}]")
_PIECE = re.compile(r"(?:[^\s,;:?!]|(?<=\d),(?=\d)|:(?=[^\s]))+|[,;:?!]")
_LATIN = re.compile(r"^(?P<stem>[A-Za-z][\w.-]*?)(?P<tail>[가-힣]{1,4})$")
_EDGE = " .,;:?!-–—/…·"
_KOREAN_WORD = re.compile(r"\w+(?:[-'.]\w+)*")
_CLITIC = re.compile(r"['’](?:s|re|m|d|ll|ve)$", re.IGNORECASE)


def title_of(text: str, rules: Rules) -> str:
    """Return a title for a step about a text: a few of its words as they were asked; see `short_title`.

    Args:
        text: a question or a subject.
        rules: how much of it is looked at, and how wide a title may be.
    """
    return short_title(shown(text, rules.limits), rules.limits.title)


def subject_of(text: str, rules: Rules) -> str:
    """Return what a text is about, as a report is called; never empty for a text that isn't.

    Args:
        text: a question or a task; its first sentences count.
        rules: what carries no content, and how long a title may be.
    """
    text = shown(text, rules.limits)
    plain = _BRACKETS.sub(" ", _QUOTES.sub("", _ASIDE.sub("", text)))
    said = _korean(plain, rules) if language_of(plain, rules.words) == "ko" else _english(plain, rules)
    fallback = (" ".join(piece.split()).strip(_EDGE) for piece in (plain, _BRACKETS.sub(" ", text), text))
    return said or cut(next((piece for piece in (*fallback, text.strip()) if piece), ""), rules.limits.title)


def _english(text: str, rules: Rules) -> str:
    """Return the first run of words with something in it, small words inside it kept, none at its ends."""
    for sentence in rules.titles.sentence.split(text):
        if rules.titles.question.match(sentence):
            # Without its question word a question is no phrase: "high is the penalty".
            return title_of(sentence, rules)
        kept = _run(sentence, rules)
        while kept and (len(" ".join(kept)) > rules.limits.title or _dangling(kept[-1], rules)):
            kept.pop()
        if kept:
            return " ".join(kept).strip(_EDGE)
    return ""


def _run(sentence: str, rules: Rules) -> list[str]:
    amounts = entities_of(sentence, rules)[1]
    ends = [m.start() for m in rules.titles.clause.finditer(sentence)]
    kept: list[str] = []
    content = begin = 0
    last: tuple[int, int] | None = None
    for match in _PIECE.finditer(sentence):
        piece = match.group().strip(_EDGE)
        figure = next((span for span in amounts if span[0] <= match.start() < span[1]), None)
        if content and (any(begin < end <= match.start() for end in ends) or (not piece and content >= 2)):
            break
        if not piece or (not kept and (_small(piece, rules) or rules.titles.opening.fullmatch(piece))):
            continue
        if figure is None and not _small(piece, rules):
            if content == rules.limits.title_words:
                break
            content += 1
        begin = begin if kept else match.start()
        if kept and figure is not None and figure == last:
            # An amount stays whole, or goes whole.
            kept[-1] += f" {piece}"
        else:
            kept.append(piece)
        last = figure
    return kept if content else []


def _dangling(word: str, rules: Rules) -> bool:
    """Whether nothing may end with a word; a lone capital is a name (`plan A`)."""
    return not (len(word) == 1 and word.isupper()) and rules.titles.dangling.fullmatch(word) is not None


def _small(word: str, rules: Rules) -> bool:
    lower = word.lower()
    return any(w in rules.words.stop or w in rules.words.requests for w in (lower, _CLITIC.sub("", lower)))


def _korean(text: str, rules: Rules) -> str:
    """Return the content words, verbs made of a noun as that noun."""
    spans = entities_of(text, rules)[1]
    found = dict.fromkeys(word for word in _nouns(text, spans, rules) if word)
    words = [word for word in found if not any(word != other and other.startswith(word) for other in found)]
    return cut(" ".join(words[: rules.limits.title_words]), rules.limits.title)


def _nouns(text: str, spans: list[tuple[int, int]], rules: Rules) -> Iterator[str]:
    for match in _KOREAN_WORD.finditer(text):
        word = match.group()
        if word[0].isdigit() or any(start < match.end() and match.start() < end for start, end in spans):
            continue
        # A topic ("올려", raising) comes first: it is a verb that has a noun of its own.
        if any(topic.expression.search(word) for topic in rules.words.topics):
            yield term_of(word, rules.words)
        elif not rules.titles.empty.search(word):
            made = rules.titles.made.match(word)
            yield term_of(made["noun"] if made else _without_particle(word, rules), rules.words)


def _without_particle(word: str, rules: Rules) -> str:
    """Return a Latin name without the Korean particle that hangs on to it; other words as they are."""
    latin = _LATIN.match(word)
    return latin["stem"] if latin and latin["tail"] in (*rules.words.particles, "나") else word


_STOPS = ".!?"
"""Ends of sentences that are kept where the sentence after them is taken out."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a query needs, decided.

    Args:
        query: the query as written, without the commands where it asks for more than those.
        reading: what it says.
        needs: what it needs.
        calls: the declared commands it asks for.
    """

    query: str
    reading: Reading
    needs: frozenset[Need]
    calls: tuple[Call, ...]


def decide(query: str, reading: Reading, calls: Sequence[Call], rules: Rules) -> Wanted:
    """Decide what a query needs: whatever isn't understood otherwise is looked for in the documents."""
    if calls:
        rest = _beside(reading.text, calls, rules)
        needs = _needs_beside(reading.text, rest, calls, rules) | {Need.RUN}
        if needs & {Need.FIND, Need.COMPUTE}:
            query = rest
            reading = replace(reading, terms=terms_of(rest, rules.words, entities_of(rest, rules)[1]))
    else:
        needs = {n for n in (Need.COMPUTE, Need.WRITE) if reading.scores[n] >= rules.threshold[n]}
        if not (needs == {Need.COMPUTE} and _self_contained(reading, rules)):
            needs.add(Need.FIND)
    return Wanted(query, reading, frozenset(needs), tuple(calls))


def _beside(text: str, calls: Sequence[Call], rules: Rules) -> str:
    """Return what a text says besides the commands it calls for, its sentences as they were written."""
    rest, at = [], 0
    for call in calls:
        rest.append(text[at : call.start])
        at = call.end
    rest.append(text[at:])
    *before, last = [said for part in rest if (said := _said(part, rules))] or [""]
    return " ".join([*(said if said[-1] in _STOPS else f"{said}." for said in before), last])


def _said(part: str, rules: Rules) -> str:
    """Return what lies between two commands, without the words that led over to them."""
    found = clauses(f"{part} ", rules)
    if not found:
        return ""
    end = found[-1][0] + len(found[-1][1])
    stop = part[end : end + 1]
    return part[found[0][0] : end].strip() + (stop if stop in _STOPS else "")


def _needs_beside(text: str, rest: str, calls: Sequence[Call], rules: Rules) -> set[Need]:
    """Return what is needed besides the commands; words that merely ask are about the commands themselves."""
    needs = {n for n in (Need.COMPUTE, Need.WRITE) if score_of(rest, n, rules) >= rules.threshold[n]}
    in_documents = Need.COMPUTE in needs and not of_commands(rest, rules)
    if in_documents or score_of(rest, Need.FIND, rules) > rules.threshold[Need.FIND]:
        needs.add(Need.FIND)
    if any(score_of(text[c.start : c.end], Need.WRITE, rules) >= rules.threshold[Need.WRITE] for c in calls):
        needs.add(Need.WRITE)
    return needs


def of_commands(text: str, rules: Rules) -> bool:
    """Whether a computation is about what commands change: "how much space was freed"."""
    return rules.revise.measured.search(text) is not None


def _self_contained(reading: Reading, rules: Rules) -> bool:
    """Whether a sum is asked for that holds all its figures, so that no document is needed."""
    figures = sum(len(reading.entities.get(kind, ())) for kind in ("amount", "percent", "date"))
    return (
        bool(figures)
        and (not reading.leftover or rules.words.sums.search(reading.text) is not None)
        and reading.scores[Need.FIND] < 2.0
        and len(reading.leftover) <= 1
        and not reading.subjects
    )


def intent_of(wanted: Wanted, rules: Rules) -> Intent:
    """Return the intent: its type follows from the needs, its confidence from how clearly they were decided."""
    reading = wanted.reading
    margin = min(
        (abs(reading.scores[n] - rules.threshold[n]) / rules.threshold[n] for n in (Need.COMPUTE, Need.WRITE)),
        default=1.0,
    )
    evidence = 0.5 if reading.cues or wanted.calls else 0.2
    return Intent(
        type=intent_type(wanted.needs),
        confidence=round(min(0.95, 0.4 + 0.25 * min(1.0, margin) + evidence * 0.6), 2),
        keywords=tuple(dict.fromkeys([*(c.command for c in wanted.calls), *reading.cues]))
        or reading.terms[: rules.limits.keywords],
        entities={kind: list(said) for kind, said in reading.entities.items()},
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


def usable(needs: frozenset[Need], agents: Mapping[str, AgentFacts], rules: Rules) -> tuple[set[Need], list[str]]:
    """Return the needs that an enabled agent can meet, and the agents that are missing.

    Raises:
        PlanError: nothing remains; the message names the agents.
    """
    missing = []
    met = set()
    for need in Need:
        if need in needs:
            agent = rules.steps[need].agent
            if agent in agents and agents[agent].enabled:
                met.add(need)
            else:
                missing.append(agent)
    if not met:
        raise PlanError(
            Message("Nothing can be planned, because this needs {}, which is disabled.", " and ".join(missing))
        )
    return met, missing


def build_plan(wanted: Wanted, needs: set[Need], rules: Rules) -> ExecutionPlan:
    """Return the plan for what is needed: searches first, then the analysis, the report last."""
    find = _finds(wanted, rules) if Need.FIND in needs else []
    compute = [_compute(wanted, rules)] if Need.COMPUTE in needs else []
    run = [run_step(c, wanted.reading.language, rules) for c in wanted.calls] if Need.RUN in needs else []
    write = [_write(wanted, rules)] if Need.WRITE in needs else []
    find, compute, run, write = _numbered([find, compute, run, write])
    compute = [_after(step, find) for step in compute]
    measured = bool(run) and of_commands(wanted.query, rules)
    order = rules.words.order_cue.search(wanted.reading.text)
    if run and wanted.reading.strategy is not Strategy.PARALLEL:
        # What changes things goes in the order it was said in, for the next may rest on what the one before did.
        run = [run[0], *(_after(step, [before]) for before, step in pairwise(run))]
    if order and run and order.start() > wanted.calls[0].start and order.start() >= wanted.calls[-1].end - 1:
        find = [_after(step, run[-1:]) for step in find]
        compute = [step if find and not measured else _after(step, run if measured else run[-1:]) for step in compute]
        before = [*run, *find, *compute]
    else:
        if order and run:
            run[0] = _after(run[0], find if measured else compute or find)
        compute = [_after(step, run) for step in compute] if measured else compute
        before = [*find, *run, *compute] if measured else [*find, *compute, *run]
    steps = (*before, *(_after(step, before) for step in write))
    return finished(steps, wanted.reading.strategy, rules)


def finished(steps: Sequence[ExecutionStep], strategy: Strategy, rules: Rules) -> ExecutionPlan:
    """Return the plan of these steps, with the groups that may run together and the estimated time."""
    depth: dict[str, int] = {}
    for step in steps:
        depth[reference(step)] = 1 + max((depth.get(d, 0) for d in step.dependencies), default=-1)
    levels = [tuple(name for name, level in depth.items() if level == n) for n in range(len(steps))]
    together = tuple(level for level in levels if len(level) > 1)
    return ExecutionPlan(
        steps=tuple(steps),
        strategy=strategy,
        parallel_groups=() if strategy is Strategy.SEQUENTIAL else together,
        estimated_time=estimated_time(steps, strategy, rules),
    )


def reference(step: ExecutionStep) -> str:
    """Return what dependencies call a step: its id, else its agent."""
    return step.id or step.agent


def _after(step: ExecutionStep, others: Sequence[ExecutionStep]) -> ExecutionStep:
    return replace(step, dependencies=(*step.dependencies, *(reference(o) for o in others)))


def _numbered(groups: Sequence[list[ExecutionStep]]) -> list[list[ExecutionStep]]:
    """Give steps of one agent ids where there are several: `search_1`, `search_2`."""
    return [
        [replace(s, id=f"{s.agent.removesuffix('_team')}_{n}") for n, s in enumerate(group, start=1)]
        if len(group) > 1
        else group
        for group in groups
    ]


def estimated_time(steps: Sequence[ExecutionStep], strategy: Strategy, rules: Rules) -> float:
    """Return seconds: the longest chain of dependencies, or the sum when steps run one at a time."""
    seconds = {rule.agent: rule.seconds for rule in rules.steps.values()}
    if strategy is Strategy.SEQUENTIAL:
        return sum(seconds.get(s.agent, 0.0) for s in steps)
    done: dict[str, float] = {}
    for step in steps:
        start = max((done.get(d, 0.0) for d in step.dependencies), default=0.0)
        done[reference(step)] = start + seconds.get(step.agent, 0.0)
    return max(done.values(), default=0.0)


def _finds(wanted: Wanted, rules: Rules) -> list[ExecutionStep]:
    language = wanted.reading.language
    if wanted.reading.subjects:
        return [find_step(subject, language, rules) for subject in wanted.reading.subjects]
    return [find_step(wanted.query, language, rules, title="")]


def _compute(wanted: Wanted, rules: Rules) -> ExecutionStep:
    return compute_step(wanted.query, wanted.reading.language, rules, title="")


def _write(wanted: Wanted, rules: Rules) -> ExecutionStep:
    return write_step(wanted.query, wanted.reading.language, rules)


def _step(need: Need, query: str, language: str, rules: Rules, title: str, inputs: JsonObject) -> ExecutionStep:
    rule = rules.steps[need]
    wording = rule.wording[language]
    return ExecutionStep(
        agent=rule.agent,
        name=f"{wording.name}: {title}" if title else wording.name,
        task=wording.task.replace("{query}", cut(query, rules.limits.task)),
        priority=rule.priority,
        timeout=rule.timeout,
        input_mapping=dict(inputs),
        purpose=wording.purpose,
        expected_output=wording.expected_output,
    )


def find_step(query: str, language: str, rules: Rules, title: str | None = None) -> ExecutionStep:
    """Return a search for a query; the team gets the whole of it, up to a bound.

    Args:
        query: what is looked for.
        language: that it is asked in.
        rules: of the planner.
        title: what it is about; None for the query's own words, empty where that is the question of the whole plan.
    """
    inputs = {"query": query.strip()[: rules.limits.query]}
    return _step(Need.FIND, query, language, rules, title_of(query, rules) if title is None else title, inputs)


def compute_step(query: str, language: str, rules: Rules, title: str) -> ExecutionStep:
    """Return an analysis for a query; its title is empty where that is the question of the whole plan."""
    inputs = {"query": query.strip()[: rules.limits.query]}
    return _step(Need.COMPUTE, query, language, rules, title, inputs)


def write_step(query: str, language: str, rules: Rules) -> ExecutionStep:
    """Return the report on the question of the whole plan."""
    return _step(Need.WRITE, query, language, rules, "", {"title": subject_of(query, rules)})


def run_step(call: Call, language: str, rules: Rules) -> ExecutionStep:
    """Return the run of a declared command with exactly these parameters."""
    inputs: JsonObject = {"command": call.command, "parameters": dict(call.parameters)}
    return replace(
        _step(Need.RUN, call.said, language, rules, "", inputs), name=call.titles.get(language, call.command)
    )
