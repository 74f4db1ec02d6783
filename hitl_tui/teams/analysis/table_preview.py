"""The queries that a question to tables reads as before it is approved: what would run, and of which files."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path

from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.written_language import language_of
from hitl_tui.tables.ask import Answer, read
from hitl_tui.tables.files import table_files
from hitl_tui.tables.mapping import halves
from hitl_tui.tables.query import TableQuery
from hitl_tui.teams.analysis.table_answer import described, nearest
from hitl_tui.teams.contract import PlannedQuery, TeamResult


def planned_queries(
    question: str, workspace: Path, inputs: Mapping[str, TeamResult], today: date | None = None
) -> list[PlannedQuery]:
    """Return how a question reads as queries of the tables of a folder; of two in one sentence each. Nothing is run.

    Args:
        question: as it is approved.
        workspace: the folder.
        inputs: the results that the step would get: it may go on from the query of one.
        today: the day that it is asked on; None for this one.

    Raises:
        TableError: DuckDB can't be started.
    """
    files, before, language = table_files(workspace), earlier_query(inputs), language_of(question)
    answer, both = read(question, files, before, today), halves(question)
    if both is None or (answer.mapped is not None and not answer.why and answer.mapped.query.limit):
        return [_planned(answer, language)]
    return [_planned(read(one, files, before, today), language) for one in both]


def day_asked(arguments: JsonObject) -> date | None:
    """Return the day that the exact arguments of a step were asked on, where they name it."""
    return date.fromisoformat(str(arguments["today"])) if "today" in arguments else None


def earlier_query(inputs: Mapping[str, TeamResult]) -> TableQuery | None:
    """Return the query of a table that an earlier result answers, the last one."""
    found: TableQuery | None = None
    for result in inputs.values():
        table = result.data.get("table")
        if isinstance(table, dict) and isinstance(table.get("query"), dict):
            try:
                found = TableQuery.from_dict(table["query"])
            except (KeyError, TypeError, ValueError):
                continue
    return found


def _planned(answer: Answer, language: str) -> PlannedQuery:
    near = [] if answer.likely else list(nearest(answer, language))
    mapped = answer.mapped if not near and (not answer.why or answer.likely) else None
    if mapped is None:
        return PlannedQuery(tables=[], others=[], words="", sql="", choices=near, awaits=False)
    elsewhere = () if answer.why else answer.choices
    others = list(dict.fromkeys(one.table.name for one in (*answer.versions, *elsewhere)))
    return PlannedQuery(
        tables=[mapped.table.name, *(others if answer.whole else ())],
        others=[] if answer.whole else others,
        words=described(mapped.query, mapped.table, language),
        sql=mapped.query.sql(mapped.table.source),
        choices=[],
        awaits=bool(mapped.query.limited),
    )
