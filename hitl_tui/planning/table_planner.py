"""`TablePlanner`: a question about a table of the workspace becomes an analysis of that table instead of a search."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_types import JsonObject, TodoMetadata
from hitl_tui.core.messages import Message, joined
from hitl_tui.core.names import titled
from hitl_tui.core.plan import AgentFacts, ExecutionPlan, ExecutionStep
from hitl_tui.core.step_heads import headed
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.core.written_language import language_of
from hitl_tui.planning.agent import PlannerAround
from hitl_tui.planning.proposals import AddStep, CurrentPlan, PlanChange, Planned, Proposed, UnknownTask
from hitl_tui.planning.rule_planner.plan_changes import changes_told
from hitl_tui.planning.rule_planner.plan_steps import before_report
from hitl_tui.planning.rule_planner.query_reader import report_file, report_subject

ANALYSIS, SEARCH, REPORT = "analysis_team", "search_team", "document_team"
BOTH, LIMIT = "both", "limit"
"""What a question is about: a table and documents beside it, or rows beyond a limit that documents set."""
TABLES = "tables"
"""The type of an analysis that asks a table."""
_TASK = {
    "en": ("Ask the tables of the workspace: {}", "Answers from the rows of a table, with the query."),
    "ko": ("작업 폴더의 표에 묻습니다: {}", "표의 행에서 답을 구하고 질의를 함께 보입니다."),
}
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class TablePlanner(PlannerAround):
    """Plans as another planner does, and looks whether a question is about a table.

    Args:
        workspace: the folder whose tables are meant.
    """

    workspace: Path

    async def plan(self, query: str, agents: Mapping[str, AgentFacts]) -> Planned:
        """Return intent and plan of a query; see `Planner.plan`."""
        planned = await self.planner.plan(query, agents)
        asked = [step for step in planned.plan.steps if step.agent in (SEARCH, ANALYSIS)]
        if not asked or not _usable(agents):
            return planned
        reported = any(step.agent == REPORT for step in planned.plan.steps)
        subject = _reported_subject(query) if reported else ""
        plan = await self._with_tables(planned.plan, asked, planned.intent.language, subject)
        return replace(planned, plan=plan)

    async def revise(self, text: str, plan: CurrentPlan) -> Proposed:
        """Return the changes that plain text asks for; see `Planner.revise`."""
        refused: BadInput | None = None
        try:
            proposed = await self.planner.revise(text, plan)
        except UnknownTask:
            raise
        except BadInput as error:
            refused, proposed = error, Proposed(Message("A further question about a table."), ())
        steps = [change.step for change in proposed.changes if isinstance(change, AddStep)]
        asks = len(steps) == len(proposed.changes) and {step.agent for step in steps} <= {SEARCH, ANALYSIS}
        if asks and not plan.remarks and _usable(plan.agents):
            further = await self._further(text, plan.todos, steps, asks_anew=refused is None)
            if further is not None:
                said = [one.metadata.get("remarks", ()) for one in proposed.changes if isinstance(one, AddStep)]
                return replace(proposed, changes=_remarked(further, said[0] if said else ()))
        if refused:
            raise refused
        if not asks and not plan.remarks and _usable(plan.agents):
            return await self._beside(proposed, steps)
        if not asks or plan.remarks:
            return proposed
        tables = {todo.id for todo in plan.todos if _is_of_table(todo)}
        if any(step.agent == ANALYSIS and tables & {*step.dependencies} for step in steps):
            # It would go on from a table that knows nothing of it: it is a question of its own.
            planned = await self.planner.plan(text, plan.agents)
            return Proposed(proposed.reason, _remarked(planned.plan.steps, planned.notes))
        return proposed

    async def follow_up(self, todo: SupervisorTodo, result: JsonObject, plan: CurrentPlan) -> Proposed | None:
        """Return what follows from a result; nothing where a table that is named has no answer."""
        data = result.get("data")
        table = data.get("table") if isinstance(data, dict) else None
        if isinstance(table, dict) and table.get("settled"):
            return None
        return await self.planner.follow_up(todo, result, plan)

    async def _beside(self, proposed: Proposed, steps: Sequence[ExecutionStep]) -> Proposed:
        """Return changes, such as questions and the report on them, with the tables that the questions are about."""
        asked = [step for step in steps if step.agent in (SEARCH, ANALYSIS)]
        whole = await self._with_tables(ExecutionPlan(tuple(steps)), asked) if asked else ExecutionPlan(tuple(steps))
        if whole.steps == tuple(steps):
            return proposed
        added = {one.step.id: one for one in proposed.changes if isinstance(one, AddStep)}
        ids = {step.id for step in whole.steps}
        remarks = [text for key, one in added.items() if key not in ids for text in one.metadata.get("remarks", ())]
        others = [change for change in proposed.changes if not isinstance(change, AddStep)]
        made = [
            replace(added[one.id], step=one) if one.id in added else _remarked([one], remarks)[0] for one in whole.steps
        ]
        changes: tuple[PlanChange, ...] = (*others, *made)
        return replace(proposed, reason=joined([*changes_told(changes), *proposed.notes]), changes=changes)

    async def _with_tables(
        self, plan: ExecutionPlan, asked: Sequence[ExecutionStep], language: str = "", subject: str = ""
    ) -> ExecutionPlan:
        """Return a plan that asks tables each question that is about one.

        Args:
            asked: the steps that search and analyse.
            language: what titles are in; that of each question, unless given.
            subject: what the only question asks, without what it calls for besides.
        """
        from hitl_tui.tables.engine import in_thread  # it imports DuckDB

        questions = _questions(asked)
        for number, (text, steps) in enumerate(questions.items(), 1):
            said = text if len(questions) > 1 or not subject else subject
            about = await in_thread(self._about, said)
            if about != "text":
                plan = _with_table(plan, steps, _table_step(said, language or language_of(said), number), about)
        return plan

    async def _further(
        self, text: str, todos: Sequence[SupervisorTodo], steps: Sequence[ExecutionStep], *, asks_anew: bool
    ) -> list[ExecutionStep] | None:
        """Return the steps of further questions, of which each is asked of a table that it is about; None without any.

        Args:
            text: what is asked, in one question or several.
            steps: what is planned for it without tables.
            asks_anew: steps are planned for it without tables, so that documents can be searched beside one.
        """
        from hitl_tui.tables.engine import in_thread

        found, tabled = list[ExecutionStep](), False
        questions = _questions(steps)
        tables = {todo.id for todo in todos if _is_of_table(todo)}
        for number, (said, own) in enumerate(questions.items() if len(questions) > 1 else [(text, [*steps])], 1):
            about, table = await in_thread(self._asked_of_table, said, todos, own, number)
            if about == "text" or (about != "table" and not asks_anew):
                # The results of a table say nothing to a question that isn't about it.
                found += [replace(one, dependencies=_but(one.dependencies, tables)) for one in own]
                continue
            beside = [one for one in own if one.agent == SEARCH and about != "table"]
            limits = [one.id for one in beside if about == LIMIT]
            found += [*beside, replace(table, dependencies=(*table.dependencies, *limits))]
            tabled = True
        return found if tabled else None

    def _about(self, query: str) -> str:
        from hitl_tui.tables.ask import about

        return about(query, self.workspace)

    def _asked_of_table(
        self, text: str, todos: Sequence[SupervisorTodo], steps: Sequence[ExecutionStep], number: int
    ) -> tuple[str, ExecutionStep]:
        """Return what a further question is about, and its step: on the last question to a table, or on its own.

        Args:
            text: the question.
            todos: the plan.
            steps: what is planned for it without tables; what goes on from another question says it whole there.
            number: which question of several it is, from 1.
        """
        from hitl_tui.tables.ask import OF_THEM, about, continues

        asked = [todo for todo in todos if _is_of_table(todo)]
        said = [str(todo.arguments.get("query", "")) for todo in asked]
        # A question goes on from what was asked last; a report on that, or a broader search for it, asks nothing.
        last = max((todo for todo in todos if _asks(todo)), key=lambda todo: todo.rank, default=None)
        if last is not None and last not in asked and any(step.dependencies for step in steps):
            text = str(steps[0].input_mapping.get("query", text))
        step = _table_step(text, language_of(text), number)
        if last in asked and (OF_THEM.search(text) or continues(text, said, self.workspace)):
            return "table", replace(step, dependencies=(asked[-1].id,))
        return about(text, self.workspace), step


def _questions(asked: Sequence[ExecutionStep]) -> dict[str, list[ExecutionStep]]:
    """Return the steps that search and analyse, by the question that they are for, in order."""
    found: dict[str, list[ExecutionStep]] = {}
    for one in asked:
        found.setdefault(str(one.input_mapping.get("query", "")), []).append(one)
    return found


def _is_of_table(todo: SupervisorTodo) -> bool:
    return todo.arguments.get("analysis_type") == TABLES


def _but(ids: Sequence[str], gone: Collection[str]) -> tuple[str, ...]:
    return tuple(one for one in ids if one not in gone)


def _reported_subject(query: str) -> str:
    """Return what a question asks that calls for a report."""
    query = report_file(query)[1]
    return report_subject(query) or before_report(query)


def _asks(todo: SupervisorTodo) -> bool:
    return todo.agent_name != REPORT and "follow_up_of" not in todo.metadata and todo.status is not Status.SKIPPED


def _remarked(steps: Sequence[ExecutionStep], remarks: Sequence[str]) -> tuple[AddStep, ...]:
    """Return the additions of steps of which the first keeps what a person should know of the question.

    A question to a table that goes on from no other one reads the table alone, whatever was found before.
    """
    found = list[AddStep]()
    for step in steps:
        kept: TodoMetadata = {"remarks": list(remarks)} if remarks and not found else {}
        if step.input_mapping.get("analysis_type") == TABLES and not step.dependencies:
            kept["alone"] = True
        found.append(AddStep(step, metadata=kept))
    return tuple(found)


def _usable(agents: Mapping[str, AgentFacts]) -> bool:
    return ANALYSIS in agents and agents[ANALYSIS].enabled


def _table_step(query: str, language: str, number: int) -> ExecutionStep:
    task, purpose = _TASK[language]
    return ExecutionStep(
        agent=ANALYSIS,
        name=headed("table", language, titled(query)),
        task=task.format(" ".join(query.split())[:_SHOWN]),
        input_mapping={"query": query.strip(), "analysis_type": TABLES},
        purpose=purpose,
        id=f"table_{number}",
    )


def _with_table(plan: ExecutionPlan, asked: Sequence[ExecutionStep], table: ExecutionStep, about: str) -> ExecutionPlan:
    """Return a plan with the step of a table in the place of those that answer the question.

    Args:
        plan: the plan.
        asked: the steps that search and analyse for the question.
        table: the step that asks the table.
        about: what the question is about; the searches stay beside it, or before it where they find the limit.
    """
    ours = {one.id for one in asked}
    kept = {one.id for one in asked if about in (BOTH, LIMIT) and one.agent == SEARCH}
    before = [d for one in asked for d in one.dependencies if d not in ours] + (sorted(kept) if about == LIMIT else [])
    table = replace(table, dependencies=tuple(dict.fromkeys(before)))
    steps: list[ExecutionStep] = []
    for one in plan.steps:
        if one.id not in ours and ours.intersection(one.dependencies):
            left = (d for d in one.dependencies if d not in ours - kept)
            one = replace(one, dependencies=(*left, table.id))
        steps += [one] if one.id not in ours or one.id in kept else []
        steps += [table] if one.id == asked[-1].id else []
    return replace(plan, steps=tuple(steps), parallel_groups=())
