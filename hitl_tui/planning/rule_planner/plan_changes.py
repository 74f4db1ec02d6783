"""Changes of a plan that plain text asks for, under review or while it runs: its edits, carried out on the plan."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from itertools import pairwise

from hitl_tui.core.errors import BadInput, PlanError
from hitl_tui.core.json_text import canonical
from hitl_tui.core.messages import Message, joined
from hitl_tui.core.names import step_name
from hitl_tui.core.plan import Change, ExecutionStep, Strategy
from hitl_tui.core.todos import MAY_BEGIN, OPERATOR, TRANSITIONS, Status, SupervisorTodo
from hitl_tui.planning.proposals import AddStep, NoChange, PlanChange, Proposed, UnknownTask
from hitl_tui.planning.rule_planner.arguments import Call, fill
from hitl_tui.planning.rule_planner.calls import CalledCommands, acts, asked_in, by_deed, carries_out, conditions_in
from hitl_tui.planning.rule_planner.command_facts import COMMANDS
from hitl_tui.planning.rule_planner.continuation import changed_inputs, continued
from hitl_tui.planning.rule_planner.edits import EVERYTHING, LEAVES, LEVELS, RELATIONS, Edit, Operation, edits_in
from hitl_tui.planning.rule_planner.plan_revision import IDLE, USERS, PlanRevision, Scene, ancestors
from hitl_tui.planning.rule_planner.plan_steps import (
    MOST_QUERY,
    left_out,
    look_step,
    of_commands,
    run_step,
    said_beside,
    table_step,
    title_of,
    write_step,
)
from hitl_tui.planning.rule_planner.query_reader import (
    Clause,
    cut,
    refers,
    report_file,
    report_subject,
    score_of,
    shown,
    split,
    terms_of,
    wants,
)
from hitl_tui.planning.rule_planner.rule_file import Need, lexicon, rules
from hitl_tui.planning.rule_planner.table_questions import LIMIT, TABLE, TEXT
from hitl_tui.planning.rule_planner.values import PAIR, PARTICLE, blanked, given_in, overlaps

HELP = Message(
    "You can add a search, an analysis, a report or a declared command, and skip, remove or move steps: "
    'for example "add an analysis" or "skip the report". Priorities: /todo priority ID LEVEL'
)
_TOLD: Mapping[str, Message] = {
    Change.ADD: Message("Adds {}."),
    Change.SKIP: Message("Skips {}."),
    Change.REMOVE: Message("Removes {}."),
    Change.EDIT: Message("Changes the input of {}."),
    Change.AFTER: Message("Moves {}."),
}
_KEPT = Message("Skips {} instead of removing it, because other steps depend on it.")
_NAMES = {Need.FIND: "search", Need.COMPUTE: "analysis", Need.WRITE: "report", Need.RUN: "command"}
_ORDER = (Need.FIND, Need.COMPUTE, Need.WRITE)
_ADDS = (Operation.ADD, Operation.ASK, Operation.ONLY)
_PLACED = (None, Operation.ASK, Operation.ORDER, Operation.KEEP)
_READ = 2000
"""Characters of a text that are read."""


def changed(scene: Scene) -> Proposed:
    """Return the changes of a plan that a text asks for."""
    file, text = report_file(shown(scene.text[:_READ]))
    if not text.strip():
        raise BadInput(Message("The text is empty; say what is to change in the plan."), help=HELP)
    planned = {facts.name for todo in scene.todos if (facts := scene.facts_of(todo))}
    words = {name: lexicon().names(f) if name in planned else frozenset[str]() for name, f in scene.commands.items()}
    deeds = {name: lexicon().vocabulary(scene.commands[name]) for name in planned}
    working, at = _TextChanges(replace(scene, text=text), file), 0
    said = (one for one in rules().revise.sentence.split(text) if one.strip())
    sentences = [_Sentence(one, _edits(one, words, deeds, scene), scene) for one in said]
    for one in sentences:
        working.give_inputs(one)
    rest = "\n".join(one.rest for one in sentences)
    asked = asked_in(rest, scene.commands, trusted=scene.trusted, revising=True)
    questions = [] if scene.reviewed or not asked.calls else said_beside(rest, asked)
    for one in sentences:
        one.take_calls(asked.calls, at)
        one.questions = [part.text for part in questions if at <= part.start < at + len(one.rest)]
        at += len(one.rest) + 1
    working.carry_out(sentences)
    return working.proposed(sentences, asked)


def _edits(
    sentence: str, words: Mapping[str, frozenset[str]], deeds: Mapping[str, frozenset[str]], scene: Scene
) -> list[Edit]:
    """Return what a sentence wants of the steps of the plan that it names: nothing of it on a condition.

    A verb names no step where what is to be done is what something does that the plan doesn't have.
    """
    if conditions_in(sentence):
        return []
    with suppress(BadInput):
        if deeds and (deed := by_deed(sentence, scene.commands)) and deed not in deeds:
            words = {name: said - lexicon().verbs for name, said in words.items()}
    return edits_in(sentence, words, deeds)


class _Sentence:
    """A sentence that may change a plan: its edits, of which some say where steps go, and what it says besides.

    Attributes:
        edits: what it wants of the steps that it names, in order.
        strategy: how steps are to run; None where it doesn't say.
        level: `first` or `last`, where something is to go there.
        also, again: it asks for something besides, and for one more of what there is.
        reverse: the steps that it names, or all, are to come the other way round.
        rest: the sentence with blanks for what it says of places; all blank once it gave a step its input.
        left: the edits that say no place and give no call its input; see `take_calls`.
        calls: the calls that begin in it; see `take_calls`.
        questions: what it asks beside them.
        answers: new steps that answer these.
        there, added: steps of the plan, and new ones, that its calls and additions came to.
        heeded: something came of it.
    """

    def __init__(self, text: str, edits: Sequence[Edit], scene: Scene) -> None:
        asks = "?" in text and rules().says.howto.search(text) and not rules().revise.polite.search(text)
        self.text, self._scene = text, scene
        self.edits = () if asks else edits  # what was done before something else is no order for it
        self.strategy = next((Strategy(name) for name, e in rules().strategy.items() if e.search(text)), None)
        self.level = next((one for one in LEVELS if not asks and rules().actions[one].found_in(text)), "")
        self.also = rules().revise.also.search(text) is not None
        self.again = rules().revise.again.search(text) is not None
        self.reverse = rules().revise.reverse.search(text) is not None
        self.rest, self.heeded = self._unplaced(), False
        self.left, self.calls, self.there, self.added = list[Edit](), list[Call](), list[str](), list[str]()
        self.questions, self.answers = list[str](), list[str]()

    def _unplaced(self) -> str:
        """Return the text with blanks for what it says of places and of how steps are to run."""
        if self.row:
            return " " * len(self.text)
        said = [rules().strategy[self.strategy]] if self.strategy else []
        spans = [match.span() for expression in said for match in expression.finditer(self.text)]
        spans += [edit.place for edit in self.edits if edit in self._placing or self._leaves(edit)]
        spans += [place for place, _ in rules().actions[self.level].found_in(self.text)] if self.level else []
        text = blanked(self.text, spans)
        around = rules().revise.around.finditer(text) if self._related or self.level else ()
        return blanked(text, [match.span() for match in around])

    @cached_property
    def _related(self) -> list[Edit]:
        """The edits that name what something goes beside."""
        return [edit for edit in self.edits if edit.operation in RELATIONS]

    @cached_property
    def _moves(self) -> list[Edit]:
        """The edits that name steps of the plan which get another place."""
        fixed = {one for edit in self._related for one in self.anchors(edit)}
        named = [e for e in self.edits if (self._related or self.level) and self.may_move(e) and self.anchors(e)]
        return [e for e in named if e.operation is Operation.ORDER or {*self.anchors(e)} - fixed]

    @cached_property
    def _placing(self) -> list[Edit]:
        """The edits that say places."""
        if self.row:
            return [e for e in self.edits if e.operation not in LEAVES]
        return [e for e in self.edits if e in self._moves or (e in self._related and self.anchors(e))]

    @property
    def moved(self) -> list[str]:
        """Steps of the plan that it gives another place."""
        return list(dict.fromkeys(one for edit in self._moves for one in self.anchors(edit)))

    @property
    def after(self) -> list[str]:
        """Steps of the plan that something is to come after."""
        return [one for e in self._related if e.operation is Operation.AFTER for one in self.anchors(e)]

    @property
    def tells(self) -> bool:
        """Whether it tells to do something in the plan, or what commands do, rather than to find something out."""
        if carries_out(self.text):
            return True
        if self._related:
            told = [e for e in self.edits if e.operation in (Operation.ASK, Operation.ORDER)]
            steps = {step for e in told for step in e.steps}
            looks = any(step.need in (Need.FIND, Need.COMPUTE) for step in steps)
            named = any(step.command or step.one for step in steps)
            return not looks and (named or acts(self.text, beside=True))
        return bool(self.level) and acts(self.text)

    def take_calls(self, calls: Sequence[Call], at: int) -> None:
        """Take the calls of a text that begin in this sentence, at a place of it, and see what is wanted besides."""
        self.calls = [call for call in calls if at <= call.start < at + len(self.rest)]
        called, placed = {call.command for call in self.calls}, bool(self._related or self.level)
        for edit in self.edits:
            names = {step.command for step in edit.steps} - {""}
            for name in names if names.isdisjoint(called) else ():  # else it names what a call is given
                there = self._scene.called(name)
                skipped = bool(there) and all(todo.status is Status.SKIPPED for todo in there)
                # One more is meant where it is to be added or done again, or placed where each was skipped.
                if edit.operation in (*_PLACED, Operation.ADD) and (self._one_more(edit) or (placed and skipped)):
                    place = (at + edit.place[0], at + edit.place[1])
                    self.calls.append(Call(self._scene.commands[name], {}, self.text, *place))
        # What a new step is given, or one that waits, says what the step is to do, and nothing of the others.
        given = [(call.start - at, call.end - at) for call in self.calls if self._is_given(call)]
        for edit in self.edits:
            if edit not in self._placing and not any(s <= edit.place[0] and edit.place[1] <= end for s, end in given):
                self.left.append(replace(edit, operation=Operation.ASK) if edit.level else edit)

    def _is_given(self, call: Call) -> bool:
        waiting = self.waiting(call.command)
        return not waiting or changed_inputs(call.words, waiting[0], self._scene) is not None

    def waiting(self, command: str) -> list[SupervisorTodo]:
        """Return the steps not begun that are meant where it calls a command: none where it asks for one more."""
        named = [e for e in self.edits if any(step.command == command for step in e.steps)]
        more = self.also or any(map(self._one_more, named))
        return [] if more else [t for t in self._scene.called(command) if t.status in IDLE]

    def may_move(self, edit: Edit) -> bool:
        """Return whether an edit may say where steps of the plan go; one more about something else doesn't."""
        looked_for = self.also or any(step.need in (Need.FIND, Need.COMPUTE) for step in edit.steps)
        another = edit.subject and edit.operation is Operation.ASK and looked_for
        return edit.operation in _PLACED and not (another or self._one_more(edit))

    def _one_more(self, edit: Edit) -> bool:
        """Return whether one more of what there is is meant, as a check before what the checks of the plan look at."""
        if self.again or edit.operation is Operation.ADD:
            return True
        before = any(one.operation is Operation.BEFORE for one in self.edits)
        return before and edit.operation is not Operation.ORDER and {*self.anchors(edit)} <= {*self._scene.last_checks}

    def _leaves(self, edit: Edit) -> bool:
        """Return whether an edit takes out steps of the plan that it names."""
        named = [step for step in edit.steps if not step.one]
        return edit.operation in LEAVES and EVERYTHING not in named and bool(self._scene.named(named))

    def anchors(self, edit: Edit) -> list[str]:
        """Return the steps of the plan that an edit names, each by itself."""
        named = self._scene.named(step for step in edit.steps if step != EVERYTHING)
        return [todo.id for todo in named if todo.status is not Status.SKIPPED]

    @property
    def named(self) -> list[str]:
        """The steps of the plan that it names."""
        return list(dict.fromkeys(one for edit in self.edits for one in self.anchors(edit)))

    @property
    def relations(self) -> Iterator[tuple[Edit, list[str]]]:
        """Yield the edits that name what something goes beside, each with the steps that are named next to it."""
        for index, edit in enumerate(self.edits):
            if edit.operation in RELATIONS:
                beside = [*reversed(self.edits[:index][-1:]), *self.edits[index + 1 :][:1]]
                yield edit, next((found for one in beside if self.may_move(one) and (found := self.anchors(one))), [])

    @cached_property
    def row(self) -> list[str]:
        """Steps of the plan that are to come one after the other, as they are named, or all that are in reverse."""
        if self.reverse:
            edits = [e for e in self.edits if e.operation not in LEAVES]
            told = [e for e in edits if e.operation is Operation.ORDER and not e.level]
            wanted = [step for e in told or edits for step in e.steps]
            numbered = [step for step in wanted if step.one]  # these are meant, whatever is named besides
            named = self.anchors(Edit(None, tuple(numbered or wanted)))
            every = not (named or any(map(str.isdigit, self.text)))
            return [t.id for t in reversed(self._scene.todos) if t.id in named or every] if len(named) != 1 else []
        more = self.again or any(e.operation not in (*_PLACED, Operation.AFTER) for e in self.edits)
        if more or not rules().revise.sequence.search(self.text):
            return []
        steps = [self._scene.named([step]) for edit in self.edits for step in edit.steps]
        row = list(dict.fromkeys(todo.id for todos in steps for todo in todos if todo.status in IDLE))
        return row if all(steps) and len(row) > 1 else []


class _TextChanges:
    """Carries out on a revision of the plan what sentences ask for.

    Args:
        file: what a report is to be, where that is said.

    Attributes:
        revision: what it becomes.
        about: what is asked besides in a session; a report that is added is on that.
        title: what a report is said to be on.
        stated: what is told beside an analysis, with a figure; it is on that, too.
        refusals: why parts of the text could not be done.
        given: the steps that wait and that a call of the text is given to; a further call of the command is a new step.
    """

    def __init__(self, scene: Scene, file: str) -> None:
        self.scene, self.revision, self.file = scene, PlanRevision(scene), file
        self.about, self.title, self.stated = "", "", ""
        self.refusals: list[BadInput] = []
        self.given: set[str] = set()

    def give_inputs(self, said: _Sentence) -> None:
        """Give the step that is named and not begun the input that is said now; where none is, those that take it."""
        spans = [place for place, _ in rules().actions[Operation.CHANGE].found_in(said.text)]
        wanted = [(e.steps, e.subject) for e in said.edits if e.operation is Operation.CHANGE]
        given = [(subject, self.scene.named(steps)) for steps, subject in wanted]
        for subject, todos in given:
            if self._give(subject, [t for t in todos if t.status in IDLE]):
                said.rest, said.heeded = " " * len(said.text), True
        if not said.edits and (spans or PAIR.search(said.text)):
            self._give_all(blanked(said.text, spans).strip(), said)

    def _give_all(self, subject: str, said: _Sentence) -> None:
        """Give what a sentence says of no step to the only one that takes it, or to all that call something."""
        todos = [todo for todo in self.scene.todos if todo.status in IDLE]
        alone = not (self.scene.todos[1:] or PAIR.search(subject))
        takes = [todo for todo in todos if alone or self._takes(subject, todo)]
        if len(takes) > 1 and len(takes) < len([todo for todo in todos if self.scene.facts_of(todo)]):
            steps = ", ".join(step_name(todo.id) for todo in takes)
            self.refusals.append(BadInput(Message('"{}" is for one of {}; say which.', cut(subject, 60), steps)))
            said.rest, said.heeded = " " * len(said.text), True
            return
        for todo in takes:
            if self._give(subject, [todo]):
                said.rest, said.heeded = " " * len(said.text), True

    def _takes(self, words: str, todo: SupervisorTodo) -> bool:
        """Return whether words say nothing but what a step may be called with."""
        facts = self.scene.facts_of(todo)
        try:
            call = fill(words, facts)[0] if facts else None
        except PlanError:  # it has no parameter of that name
            return False
        return call is not None and bool(call.parameters) and not (call.unread or call.unplaced)

    def _give(self, words: str, idle: Sequence[SupervisorTodo]) -> bool:
        """Give the only one of some steps the input that words say now; return whether it takes any of it."""
        inputs = changed_inputs(words, idle[0], self.scene) if len(idle) == 1 else None
        if inputs is not None:
            self.revision.inputs[idle[0].id] = inputs
        return inputs is not None

    def carry_out(self, sentences: Sequence[_Sentence]) -> None:
        """Take out, add and order what sentences ask for."""
        for said, do in self._deeds(sentences):
            before = self.revision.state
            try:
                do()
            except PlanError:
                raise
            except BadInput as refusal:
                self.refusals.append(refusal)
                said.heeded = True
            said.heeded = said.heeded or self.revision.state != before
        for said in sentences:
            with suppress(BadInput):  # a step that isn't there was named before
                self._give_left(said)

    def _give_left(self, said: _Sentence) -> None:
        """Give the values that stand beside a change to the only step that its sentence names, or say they are left."""
        told = [canonical(dict(one)).decode() for one in self.revision.inputs.values()]
        told += [canonical(dict(new.step.input_mapping)).decode() for new in self.revision.new.values()]
        left = [match[0] for match in PAIR.finditer(said.text) if not any(_holds(one, match) for one in told)]
        if self.revision.inputs.keys().isdisjoint(said.named) and not said.added:
            amounts = given_in(PAIR.sub(lambda match: " " * len(match[0]), said.text))
            left += [said.text[slice(*one.place)] for one in amounts if one.measure not in ("", "count")]
        if not (left and said.heeded and said.edits):
            return
        staying = [todo for todo in self.scene.todos if todo.id in said.named and todo.id not in self.revision.gone]
        idle = [todo for todo in staying if todo.status in IDLE and todo.id not in self.revision.inputs]
        words = " ".join(left)
        if not (len(idle) == 1 and self._takes(words, idle[0]) and self._give(words, idle)):
            self.refusals.append(BadInput(Message("Not taken up: {}", repr(cut(words, 100)))))

    def _deeds(self, sentences: Sequence[_Sentence]) -> Iterator[tuple[_Sentence, Callable[[], None]]]:
        """Yield what is to be done, with the sentence that asks for it: what leaves, what is new, and the order."""
        wishes = [(said, edit) for said in sentences for edit in said.left]
        adds = [(said, e, step.need) for said, e in wishes if e.operation in _ADDS for step in e.steps]
        for said, edit in wishes:
            yield said, partial(self._leave, edit, said)
        for said in sentences:
            for question in said.questions:
                yield said, partial(self._answer, question, said)
            for call in said.calls:
                yield said, partial(self._call, call, said)
        for said in sentences if not self.scene.reviewed and any(need is Need.WRITE for *_, need in adds) else ():
            yield said, partial(self._ask_first, said)
        for said in sentences if any(need is Need.COMPUTE for *_, need in adds) else ():
            if not said.edits and any(map(str.isdigit, said.text)):
                said.heeded, self.stated = True, f"{self.stated} {said.text.strip()}".strip()
        for need in _ORDER:
            for said, edit in [(said, edit) for said, edit, wanted in adds if wanted is need]:
                yield said, partial(self._add, edit, need, said)
        for said in sentences:
            yield said, partial(self._place, said)

    # What the plan has ------------------------------------------------------------------------------------------------

    def _leave(self, edit: Edit, said: _Sentence) -> None:
        named = self.scene.named(edit.steps)
        if EVERYTHING in edit.steps and rules().revise.rest.search(said.text):
            others = [s for e in said.edits if e.operation not in LEAVES for s in e.steps if s != EVERYTHING]
            kept = self.scene.named(others)
            named = [t for t in named if t not in kept]
        if edit.operation in LEAVES:
            self._take_out(edit, named)
        elif edit.operation is Operation.ONLY:
            self._keep_only(named)
        elif edit.operation is Operation.RANK and named:
            raise BadInput(Message("A priority is set by a command: /todo priority {} LEVEL", step_name(named[0].id)))

    def _take_out(self, edit: Edit, named: Sequence[SupervisorTodo]) -> None:
        if not named:
            command, need = edit.steps[0].command, edit.steps[0].need
            spoken = f'"{command}"' if command else _NAMES[need] if need else "other"
            raise BadInput(Message("The plan has no {} step to remove.", spoken), help=HELP)
        may = [t for t in named if OPERATOR in TRANSITIONS.get((t.status, Status.SKIPPED), ())]
        able = [t for t in may if t.id not in self.revision.gone]
        if not able:
            states = ", ".join(f"{step_name(t.id)} is {t.status}" for t in named[:4])
            raise BadInput(Message("Nothing can be skipped or removed: {}.", states))
        for todo in able:
            # Only what never started can be removed; anything else can at most be skipped.
            removable = edit.operation is Operation.REMOVE and todo.status in IDLE and not todo.attempt
            self.revision.leave(todo.id, Change.REMOVE if removable else Change.SKIP)

    def _keep_only(self, named: Sequence[SupervisorTodo]) -> None:
        """Remove what never started, is not named, and is needed by nothing that is."""
        wanted = {t.id for t in named}
        # What a step only waits for isn't needed for it; what works from a step that is named needs no other.
        reading = [t for t in self.scene.todos if self.scene.reads(t)]
        needs = {t.id: wanted.intersection(t.dependencies) or t.dependencies for t in reading}
        kept = ancestors(wanted, needs)
        for todo in self.scene.todos if kept else ():
            if todo.status in IDLE and not todo.attempt and todo.id not in kept | self.revision.gone.keys():
                self.revision.leave(todo.id, Change.REMOVE)

    # What is new ------------------------------------------------------------------------------------------------------

    def _answer(self, question: str, said: _Sentence) -> None:
        """Add what answers a question that is asked beside calls."""
        there = len(self.revision.new)
        if continued(self.revision, question, alone=True):
            said.answers += [*self.revision.new][there:]

    def _call(self, call: Call, said: _Sentence) -> None:
        if not call.facts.own:
            self._check_agent(Need.RUN)
        waiting = said.waiting(call.command)
        if waiting and call.conditions:
            raise _unchecked(call.conditions[0], waiting[0])
        if waiting and not (call.parameters and all(t.id in self.given for t in waiting)):
            # What waits in the plan already is meant, with what is said of its input.
            said.there = [t.id for t in waiting if t.id not in self.revision.gone]
            idle = [t for t in waiting if t.id in said.there and t.id not in self.given]
            if self._give(call.words, idle):
                self.given.add(idle[0].id)
                said.heeded = True
            return
        drawn = call.facts.own and (call.facts.reads_results or refers(call.words))
        last = [t.id for t in self.revision.staying if t.id not in self.revision.new][-1:] if drawn else []
        ran = [key for key, new in self.revision.new.items() if new.step.agent == COMMANDS and not call.facts.own]
        ahead = [] if said.strategy is Strategy.PARALLEL else ran[-1:]
        answers = said.answers if rules().says.order_cue.search(said.text) else []
        self._append(run_step(call, self.scene.language), said, [*answers, *(said.after or last or ahead)])

    def _add(self, edit: Edit, need: Need, said: _Sentence) -> None:
        """Add a step of a kind, where the plan doesn't have it as it is."""
        scene, revision, language = self.scene, self.revision, self.scene.language
        there, more = scene.of(need), edit.subject or said.again
        weak = edit.operation is Operation.ONLY or (need is Need.FIND and edit.operation is Operation.ASK and not more)
        fresh = not more and any(scene.is_of(revision.todos[one], need) for one in revision.new)
        if fresh or (there and weak):
            return
        self._check_agent(need)
        sources = said.after if need is Need.FIND else self._drawn(edit, need, said.after)
        for todo in there if need is not Need.FIND and not more else ():
            waiting = todo.status in (*IDLE, Status.IN_PROGRESS) and todo.id not in revision.gone
            if waiting and {*sources} <= {*todo.dependencies}:
                if need is Need.WRITE and self.file and todo.status in IDLE:
                    revision.inputs[todo.id] = {**todo.arguments, "path": self.file}
                    return
                raise BadInput(Message("{} already plans this {}.", step_name(todo.id), _NAMES[need]))
        if need is Need.WRITE:
            asked = {_question(revision.todos[one]).strip() for one in sources} - {""}
            drawn = asked.pop() if len(asked) == 1 else scene.query
            about = self.about or self.title or drawn
            self._append(write_step(about, language, self.file), said, sources)
        elif need is Need.FIND:
            query = edit.subject or scene.query.strip()[:MOST_QUERY]
            if any(query == _question(todo).strip() for todo in there):
                raise BadInput(Message("The plan already has this search; say what else to search for."), help=HELP)
            about, goes_on = scene.of_tables(said.text.strip())
            if about != TABLE:
                sources = [self._append(look_step(need, query, language, title_of(query)), said, sources)]
            if about != TEXT:
                self._append(table_step(query, language), said, [*goes_on, *(sources if about == LIMIT else [])])
        else:
            about = f"{self.stated} {edit.subject}".strip()
            title = title_of(about) if about else ""
            query = f"{scene.query.strip()[:MOST_QUERY]}\n{about}"
            if self._says_all(about):
                query = about
                if scene.agent_for(Need.FIND):
                    sources = [self._append(look_step(Need.FIND, about, language, title), said, said.after)]
            self._append(look_step(need, query, language, title), said, sources)

    def _ask_first(self, said: _Sentence) -> None:
        """Add what is to be found for a report: the answer to what is asked beside it, or what it is to be on."""
        wished = [edit.place for edit in said.edits if edit.operation]
        parts = split(said.text, ()) if wished else [Clause(0, said.text)]
        parts = [part for part in parts if not overlaps((part.start, part.end), wished)]
        asked = [part.text for part in parts if wants(part.text, Need.FIND) and score_of(part.text, Need.WRITE) <= 0]
        reports = any(step.need is Need.WRITE for e in said.left for step in e.steps)
        subject = report_subject(said.text) if reports else ""
        self.title = self.title or subject
        known = self._was_answered(self.title) or self._is_done(self.title)
        for question in (*asked, *([subject] if subject and not known else [])):
            there = len(self.revision.new)
            if continued(self.revision, question, alone=question is subject):
                said.added += [*self.revision.new][there:]
                self.about = self.about or question.strip()

    def _is_done(self, subject: str) -> bool:
        """Return whether a subject is what commands of the plan do, which no document knows."""
        facts = filter(None, map(self.scene.facts_of, self.scene.todos))
        deeds = frozenset(deed for one in facts for deed in lexicon().deeds(one)) - lexicon().looking
        return bool(lexicon().meant(subject) & deeds)

    def _was_answered(self, subject: str) -> bool:
        """Return whether an earlier question asked for a subject, and for hardly more."""
        terms, asked = terms_of(subject), [self.scene.query, *map(_question, self.scene.todos)]
        near = [one for one in asked if len(terms_of(one)) <= len(terms) + 1]
        return any(all(term.lower() in one.lower() for term in terms) for one in near)

    def _check_agent(self, need: Need) -> None:
        if self.scene.agent_for(need) is None:
            agent = rules().steps[need].agent
            raise PlanError(Message("No {} can be added, because {} is disabled.", _NAMES[need], agent))

    def _drawn(self, edit: Edit, need: Need, after: Sequence[str]) -> list[str]:
        """Return the steps that a new one draws on: a report on everything but reports, an analysis on the searches.

        An analysis draws on commands, too, but on those that wait only where it is about what they do.
        """
        new, of_deeds = self.revision.new, of_commands(edit.subject)
        about = [term.lower() for term in terms_of(self.about)] if need is Need.WRITE else []

        def tells(todo: SupervisorTodo) -> bool:
            kind = self.scene.kind_of(todo)
            ran = need is Need.COMPUTE and kind is Need.RUN and (of_deeds or todo.status is Status.COMPLETED)
            asked = todo.id in new or not about or any(term in _question(todo).lower() for term in about)
            return asked and (ran or need in USERS.get(kind, ()))

        found = [t.id for t in self.revision.staying if tells(t)]
        return [*after, *(i for i in found if not after or i in new)]

    def _says_all(self, about: str) -> bool:
        """Whether words compare a figure that the session's question hasn't with a limit of what they name."""
        texts = about, self.scene.query
        now, before = ({one.value for one in given_in(text)} for text in texts)
        named = [t for t in terms_of(about) if not (rules().revise.limits.search(t) or any(map(str.isdigit, t)))]
        return bool(now - before and named and rules().revise.compares.search(about))

    def _append(self, step: ExecutionStep, said: _Sentence, sources: Sequence[str]) -> str:
        said.added.append(self.revision.add(step, sources))
        return said.added[-1]

    # The order --------------------------------------------------------------------------------------------------------

    def _place(self, said: _Sentence) -> None:
        """Put steps where a sentence says."""
        before, row = {**self.revision.after}, [key for key in said.row if key in self.revision.after]
        stay = [key for key in said.moved if key in self.revision.after]
        placed = row if said.row else said.added or stay or said.there
        with self.revision.attempt(said.added):
            if said.reverse and len(row) == 2:  # what stands between them stays there
                self.revision.exchange(*row)
            else:
                for one, other in pairwise(row):
                    self.revision.follow(other, one)
            related = [] if said.row else [self._relate(edit, named or placed, said) for edit, named in said.relations]
            if said.level and not (said.row or any(related)):
                self.revision.release(said.added)
                for todo_id in reversed(placed) if said.level == "first" else placed:
                    (self.revision.first if said.level == "first" else self.revision.last)(todo_id)
            if said.strategy is Strategy.PARALLEL:
                if len(said.named) > 1:
                    self.revision.together(said.named)
                else:
                    self.revision.apart()
            if placed and not said.heeded and self.revision.after == before:
                there = ", ".join(map(step_name, placed))
                if said.row or said.level or said.strategy or any(said.relations):
                    raise BadInput(Message("The plan has {} there already.", there), help=HELP)
                raise BadInput(
                    Message('{} stays as it is: "{}" says nothing new for it.', there, cut(said.text, 60)), help=HELP
                )

    def _relate(self, edit: Edit, moved: Sequence[str], said: _Sentence) -> bool:
        """Put steps before, after or in the place of those that an edit names; return whether that is their place."""
        revision, before = self.revision, edit.operation is Operation.BEFORE
        anchors = [one for one in said.anchors(edit) if one not in revision.gone]
        ahead = [one for one in anchors if one in revision.after]
        if not anchors and not said.added:
            raise BadInput(Message("The plan has no step like that to go before or after."), help=HELP)
        moved = [one for one in moved if one in revision.after] if anchors else []
        if moved == said.added:
            revision.release(moved)
        for todo_id in moved if before else reversed(moved):
            if before:
                revision.before(todo_id, *ahead)
            else:
                revision.follow(todo_id, *anchors)
        for anchor in ahead if edit.operation is Operation.INSTEAD and moved else ():
            revision.stand_in(anchor)
        return bool(moved) and edit.operation is not Operation.INSTEAD

    # The outcome ------------------------------------------------------------------------------------------------------

    def proposed(self, sentences: Sequence[_Sentence], asked: CalledCommands) -> Proposed:
        """Return what comes of it."""
        scene, changes = self.scene, self.revision.changes(cut(self.scene.text, 200))
        strategy = next((one.strategy for one in reversed(sentences) if one.strategy), None) if scene.reviewed else None
        if changes or strategy:
            unread = [s.text for s in sentences if not (s.heeded or s.strategy) and terms_of(s.text)]
            refused = [refusal.message for refusal in self.refusals]
            left = left_out(asked, scene.language)
            notes = [*refused, *left, *(Message("Not taken up: {}", repr(cut(sentence, 100))) for sentence in unread)]
            kept = {todo_id for todo_id, how in self.revision.gone.items() if how is Change.REMOVE}
            reason = joined([*_changes_told(changes, kept), *left, *refused])
            return Proposed(reason, tuple(changes), strategy, tuple(notes))
        if self.refusals:
            raise self.refusals[0]
        said = [one for one in sentences if terms_of(one.text)]
        if said and all(one.tells for one in said):
            raise self._unknown(sentences)
        anchors = [i for s in sentences for e in s.edits if e.operation is Operation.BEFORE for i in s.anchors(e)]
        ahead = [t.id for t in scene.todos if t.id in anchors and t.status in MAY_BEGIN]
        told = "" if scene.reviewed or asked.calls else continued(self.revision, scene.text, users=ahead)
        if told:
            return Proposed(told, tuple(self.revision.changes("")))
        raise NoChange(Message('No change to the plan found in "{}".', cut(scene.text, 60)), help=HELP)

    def _unknown(self, sentences: Sequence[_Sentence]) -> UnknownTask:
        """Return why nothing of what is told can be done."""
        edits = [edit for said in sentences for edit in said.edits if EVERYTHING not in edit.steps]
        moved = [t for e in edits if e.operation not in RELATIONS for t in self.scene.named(e.steps)]
        beside = [t for e in edits if e.operation in RELATIONS for t in self.scene.named(e.steps)] if moved else []
        fixed = next((why for todo in (*moved, *beside) if (why := todo.why_fixed)), "")
        help = Message(
            "Name a step by its number or by what it does. A command for something else can be declared in hitl.toml."
        )
        text = cut(self.scene.text, 60)
        unknown = Message('No change to the plan found in "{}": no step and no declared command does that.', text)
        return UnknownTask(fixed or unknown, help=help)


def _changes_told(changes: Sequence[PlanChange], kept: Collection[str] = ()) -> list[Message]:
    """Return what changes of a plan do, a sentence for each kind.

    Args:
        kept: steps that were to be removed, and of which those that others depend on are skipped.
    """
    told: dict[Message, list[str]] = {}
    for change in changes:
        if isinstance(change, AddStep):
            told.setdefault(_TOLD[Change.ADD], []).append(f'"{change.step.name}"')
        else:
            skipped = change["kind"] == Change.SKIP and change["todo_id"] in kept
            told.setdefault(_KEPT if skipped else _TOLD[change["kind"]], []).append(step_name(change["todo_id"]))
    return [sentence.filled(names) for sentence, names in told.items()]


def _holds(arguments: str, pair: re.Match[str]) -> bool:
    """Whether canonical JSON of arguments has what `name=value` gives; of a list that isn't looked for."""
    value = PARTICLE.sub("", pair["value"].rstrip(".,;!?")).strip("\"'")
    said = (f'"{pair["name"]}":{form}' for one in (value, value.lower()) for form in (one, f'"{one}"'))
    return "," in value or pair[0] in arguments or any(one in arguments for one in said)


def _unchecked(condition: str, todo: SupervisorTodo) -> BadInput:
    return BadInput(
        Message('Nothing checks "{}"; {} stays as it is.', condition, step_name(todo.id)),
        help=Message("Where a step asks, look whether that holds, and approve, skip or reject it."),
    )


def _question(todo: SupervisorTodo) -> str:
    return str(todo.arguments.get("query", ""))
