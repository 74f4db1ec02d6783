"""The table team: runs a query of tables of the workspace that a model or a person wrote, and that was shown before."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_types import Json, JsonObject, JsonSchema
from hitl_tui.core.messages import Message
from hitl_tui.core.plan import Guide
from hitl_tui.core.policy import Risk
from hitl_tui.core.safe_markdown import first_words
from hitl_tui.core.written_language import language_of
from hitl_tui.teams.contract import (
    BRIEF,
    Block,
    Brief,
    Citation,
    Team,
    TeamContext,
    TeamFailure,
    TeamGraph,
    TeamResult,
    TeamSources,
    in_steps,
)

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

_SHOWN = 50


class _TableState(TypedDict, total=False):
    """State of the team's graph: the task and the result."""

    task: str
    result: dict[str, Any]


class TableTeam(Team):
    """Asks tables by SQL: one SELECT, over nothing but the tables of the workspace that it names.

    Args:
        workspace: absolute path of the workspace; empty where that isn't known.
    """

    name = "table_team"
    description = Message("Asks tables of the workspace (CSV, Excel, Parquet) by SQL, which is shown before it runs.")
    risk = Risk.LOW
    max_retries = 0
    timeout = 60.0
    reads_results = False
    takes_question = False

    def __init__(self, workspace: str) -> None:
        self._workspace = workspace

    @property
    def input_schema(self) -> JsonSchema:
        """JSON Schema of the arguments."""
        return {
            "type": "object",
            "properties": {
                "sql": {"type": "string", "description": str(Message("one SELECT in DuckDB's SQL"))},
                "question": {"type": "string", "description": str(Message("what it answers, in words"))},
            },
            "required": ["sql"],
            "additionalProperties": False,
        }

    def parameters(self) -> Mapping[str, str]:
        return {"sql": Message("one SELECT in DuckDB's SQL")}

    def bind(self, text: str, arguments: JsonObject) -> dict[str, Json]:
        """Return `sql` and `question`; a text that stands alone is the query.

        Raises:
            BadInput: it isn't one query that only reads.
        """
        from hitl_tui.tables.written_query import check_select

        if unknown := sorted(set(arguments) - {"sql", "question"}):
            raise BadInput(Message("table_team takes sql and question, not {}.", repr(unknown[0])))
        sql, question = arguments.get("sql", text), arguments.get("question", "" if "sql" not in arguments else text)
        if not isinstance(sql, str) or not isinstance(question, str):
            raise BadInput(Message("table_team takes sql and question as texts."))
        check_select(sql)
        return {"sql": sql.strip().rstrip(";").strip(), **({"question": question.strip()} if question.strip() else {})}

    def guide(self) -> Guide | None:
        return _TableGuide(Path(self._workspace)) if self._workspace else None

    def build(self) -> TeamGraph:
        """Return the graph of one node: it asks."""
        return in_steps(_TableState, ("call", _call))


class _TableGuide:
    """What whoever writes a query has to know: the tables; see `core.plan.Guide`."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace

    def told(self) -> str:
        from hitl_tui.tables.engine import TableError
        from hitl_tui.tables.written_query import described

        try:
            tables = described(self._workspace)
        except TableError as error:
            return str(error)
        return f"The tables, by the names that SQL has for them:\n{tables}" if tables else ""

    def check(self, arguments: JsonObject) -> None:
        from hitl_tui.tables.written_query import check_query

        check_query(str(arguments.get("sql", "")), self._workspace)


async def _call(state: _TableState, runtime: Runtime[TeamContext]) -> _TableState:
    return {"result": (await _ask(runtime.context)).to_dict()}


async def _ask(context: TeamContext) -> TeamResult:
    from hitl_tui.tables.engine import TableError, in_thread
    from hitl_tui.tables.written_query import run_query

    sql = str(context.task.arguments["sql"])
    try:
        written = await in_thread(partial(run_query, sql, context.workspace))
    except (TableError, BadInput) as error:
        raise TeamFailure(error.message) from error
    question = str(context.task.arguments.get("question", ""))
    korean = language_of(question or context.task.query) == "ko"
    result, tables = written.result, written.tables
    rows = result.rows
    names = ", ".join(table.name for table in tables)
    if len(rows) == 1 and len(result.names) == 1:
        answer = [f"{result.names[0]}: **{rows[0][0]}** [`{names}`]"]
    else:
        count = f"{len(rows)}{'+' if result.more else ''}"
        counted = f"{count}행" if korean else f"{count} row{'' if count == '1' else 's'}"
        body = ["| " + " | ".join(row) + " |" for row in rows[:_SHOWN]]
        head = ["| " + " | ".join(result.names) + " |", "|" + " --- |" * len(result.names)]
        answer = [f"{counted} [`{names}`]", "", *(head + body if rows else [])]
    said = "실행한 질의" if korean else "The query that ran"
    shown = f"**{said}**\n\n```sql\n{sql}\n```"
    brief = Brief("\n".join(answer), (Block(shown),)) if rows else Brief(absent=(Message("The query found no row."),))
    data: dict[str, Json] = {
        "table": {"sql": sql, "columns": list(result.names), "rows": [list(row) for row in rows], "more": result.more},
        BRIEF: brief.to_dict(),
    }
    text = "\n".join([*(answer if rows else brief.absent), "", shown, ""])
    citations = tuple(Citation(table.file.path, 0, 0, sql) for table in tables)
    return TeamResult(text, data, citations, summary=first_words(answer[0]) if rows else "", found=bool(rows))


def teams(sources: TeamSources) -> list[Team]:
    """Return the table team."""
    return [TableTeam(sources.workspace)]
