"""Questions that go on from the last one: what a person leaves out is taken from it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from hitl_tui.core.errors import BadInput
from hitl_tui.core.names import step_name
from hitl_tui.core.plan import ExecutionStep
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.planning.proposals import AddStep, Proposed
from hitl_tui.planning.rule_planner.arguments import fill
from hitl_tui.planning.rule_planner.calls import Asked, Call
from hitl_tui.planning.rule_planner.command_facts import CommandFacts
from hitl_tui.planning.rule_planner.plan_edit import Scene
from hitl_tui.planning.rule_planner.plan_steps import (
    build_plan,
    compute_step,
    decide,
    find_step,
    reference,
    run_step,
    title_of,
    usable,
)
from hitl_tui.planning.rule_planner.query_reader import cut, entities_of, read, refers, terms_of
from hitl_tui.planning.rule_planner.rule_file import Need, Rules

_LEAD = re.compile(
    r"^\s*(?:(?:and|but|so|then|also|ok(?:ay)?|now|그럼|그러면|그리고|그런데|그렇다면|근데),?\s+)*"
    r"(?:(?:what|how) about\s+)?",
    re.IGNORECASE,
)
_TAIL = re.compile(r"(?:은|는|도|이|가|의\s?경우(?:는|에는)?)?(?:요|야|여|죠)?\s*[?.!]*\s*$")
_TOPIC = re.compile(r"(?P<phrase>(?:[^\s?.,]+\s)*?[^\s?.,]+)(?P<particle>은|는)(?=\s)")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_FILE = re.compile(r"[\w./-]*\w\.[A-Za-z][A-Za-z0-9]{1,4}(?![\w])")
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
    asks = "?" in text or led or any(reading.scores[n] >= rules.threshold[n] for n in Need if n in rules.threshold)
    if not asks:
        return None
    if led or len(terms_of(rest, rules.words)) <= _FEW:
        return _continues(_TAIL.sub("", rest) or rest, last, scene)
    wanted = decide(text, reading, Asked(()), rules)
    needs, _ = usable(wanted.needs, scene.agents, rules)
    steps = build_plan(wanted, needs, rules).steps
    first = (last.id,) if refers(text) else ()
    return _proposed([replace(s, dependencies=(*first, *s.dependencies)) for s in steps], text, last, scene)


def _last(scene: Scene) -> SupervisorTodo | None:
    """Return the step that answered last: the one that a question goes on from."""
    kinds = {scene.rules.steps[need].agent for need in (Need.FIND, Need.COMPUTE)}
    done = [t for t in scene.todos if t.status is Status.COMPLETED]
    named = [t for t in done if t.agent_name in kinds or _facts_of(t, scene.commands) is not None]
    return max(named, key=lambda t: (t.completed_at, t.rank), default=None)


def _facts_of(todo: SupervisorTodo, known: Mapping[str, CommandFacts]) -> CommandFacts | None:
    return known.get(str(todo.arguments.get("command") or todo.agent_name))


def _continues(said: str, last: SupervisorTodo, scene: Scene) -> Proposed | None:
    facts = _facts_of(last, scene.commands)
    if facts is not None:
        return _called_again(said, facts, last, scene)
    rules, language = scene.rules, scene.language
    before = str(last.arguments.get("query") or scene.query)
    whole, replaced = merged(before, said, rules)
    same = [t for t in scene.todos if t.arguments.get("query") == last.arguments.get("query")]
    agents = {t.agent_name for t in same if t.status is not Status.FAILED}
    steps: list[ExecutionStep] = []
    if rules.steps[Need.FIND].agent in agents:
        steps.append(find_step(whole, language, rules, title=title_of(said, rules)))
    if rules.steps[Need.COMPUTE].agent in agents:
        step = compute_step(whole if replaced else scene.text.strip(), language, rules, title=title_of(said, rules))
        steps.append(replace(step, dependencies=tuple(reference(s) for s in steps)))
    steps = [replace(s, dependencies=(last.id, *s.dependencies)) for s in steps]
    return _proposed(steps, scene.text, last, scene)


def _called_again(said: str, facts: CommandFacts, last: SupervisorTodo, scene: Scene) -> Proposed | None:
    """Propose the last call once more, with what is said now instead."""
    given = last.arguments.get("parameters" if "command" in last.arguments else "input")
    bound, *_ = fill(said, facts, scene.rules)
    if not bound.parameters or not isinstance(given, Mapping):
        return None
    call = Call(facts, {**given, **bound.parameters}, 0, len(said), unplaced=bound.unplaced, words=said)
    step = replace(run_step(call, scene.language, scene.rules), dependencies=(last.id,))
    return _proposed([step], scene.text, last, scene)


def _proposed(steps: Sequence[ExecutionStep], text: str, last: SupervisorTodo, scene: Scene) -> Proposed:
    used = {str(t.metadata.get("step", "")) for t in scene.todos}
    names: dict[str, str] = {}
    for step in steps:
        base = step.agent.removesuffix("_team")
        names[reference(step)] = next(n for n in (f"{base}_{i}" for i in range(1, 999)) if n not in used)
        used.add(names[reference(step)])
    changes = [
        AddStep(replace(s, id=names[reference(s)], dependencies=tuple(names.get(d, d) for d in s.dependencies)))
        for s in steps
    ]
    words = scene.rules.sentences[scene.language]["continues"]
    return Proposed(words.format(id=step_name(last.id), text=cut(text, 100)), tuple(changes))


def merged(before: str, said: str, rules: Rules) -> tuple[str, bool]:
    """Return the last question with what is said now in the place of what it stands for.

    Args:
        before: the last question.
        said: what is said now, without the words that lead over to it.
        rules: what names and dates are.

    Returns:
        The question, and whether a place was found; where none was, the last question is followed by what is said.
    """
    for expression in (_FILE, _YEAR):
        new, old = expression.findall(said), expression.findall(before)
        if len(new) == 1 and len(set(old)) == 1:
            return before.replace(old[0], new[0]), True
    now, then = entities_of(said, rules)[0], entities_of(before, rules)[0]
    for kind, named in now.items():
        if len(named) == 1 and len(then.get(kind, ())) == 1:
            return before.replace(then[kind][0], named[0]), True
    head = said.split()[-1]
    by_head = re.search(rf"(?:[^\s?.,]+\s){{0,2}}?[^\s?.,]*{re.escape(head)}(?=[가-힣]{{0,2}}(?:\s|[?.,]|$))", before)
    if by_head is not None and len(said.split()) > 1:
        return before[: by_head.start()] + said + before[by_head.end() :], True
    topic = _TOPIC.search(before)
    if topic is not None and re.search("[가-힣]", said) and len(topic["phrase"].split()) <= _FEW:
        last = topic["phrase"].split()[-1]
        at = topic.start("phrase") + topic["phrase"].rindex(last)
        return before[:at] + said + _topic_particle(said) + before[topic.end() :], True
    return f"{before.rstrip(' ?.!')} {said}", False


def _topic_particle(word: str) -> str:
    """Return the particle that makes a word the topic."""
    last = ord(word[-1]) - ord("가")
    return "은" if 0 <= last < 11172 and last % 28 else "는"
