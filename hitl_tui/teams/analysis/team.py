"""The analysis team: computes over what earlier TODOs found."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import date

from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_types import Json, JsonObject, JsonSchema
from hitl_tui.core.messages import Message
from hitl_tui.core.plan import Concern
from hitl_tui.core.policy import Risk
from hitl_tui.teams.analysis.analysis_model import ANALYSIS_TYPES, MAX_QUERY
from hitl_tui.teams.arguments import exact_arguments
from hitl_tui.teams.contract import Preparation, PreviewContext, QueryPreview, Team, TeamGraph, TeamSources

_FEW, _LONGEST = 20, 300.0
"""Files of tables that take no time, and seconds for which more are looked at while nobody waits."""


class AnalysisTeam(Team):
    """Computes over the question, the passages found for it and their tables; has no opinions.

    Nothing outside the session is changed: it only reads files of the workspace that earlier results name.
    """

    name = "analysis_team"
    description = Message(
        "Arithmetic on the figures of a question: changes, limits stated in documents, table statistics."
    )
    risk = Risk.LOW
    max_retries = 2
    timeout = 60.0

    @property
    def input_schema(self) -> JsonSchema:
        """JSON Schema of the arguments."""
        return {
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "maxLength": MAX_QUERY,
                    "description": str(Message("what to work out, in words")),
                },
                "analysis_type": {
                    "type": "string",
                    "enum": list(ANALYSIS_TYPES),
                    "default": "comprehensive",
                    "description": str(Message("all of it or one part")),
                },
                "today": {
                    "type": "string",
                    "format": "date",
                    "description": str(Message("the day that words such as last month count from")),
                },
            },
            "required": ["query"],
            "additionalProperties": False,
        }

    def concern(self, question: str) -> Concern:
        from hitl_tui.teams.analysis.computation import concern

        return concern(question)

    def bind(self, text: str, arguments: JsonObject) -> dict[str, Json]:
        """Return `query` and `analysis_type`; an empty query stands for the session's question.

        A question to tables that means the month or year of another day gets `today`: what was approved runs later, and
        elsewhere.

        Raises:
            BadInput: an unknown parameter, or a value of the wrong kind.
        """
        given = exact_arguments(self.name, {"query": text, **arguments}, self.input_schema)
        query, today = str(given["query"]).strip(), str(given.pop("today", date.today()))
        if not self.previews(given):
            return {**given, "query": query}
        from hitl_tui.tables.words import dated

        relative = not query or dated(query, date.fromisoformat(today)) != query
        return {**given, "query": query, **({"today": today} if relative else {})}

    def previews(self, arguments: JsonObject) -> bool:
        """Return whether it asks tables: which, and what, is worked out before."""
        return arguments.get("analysis_type") == "tables"

    async def preview(self, arguments: JsonObject, context: PreviewContext) -> QueryPreview | None:
        """Return the queries that a question to tables reads as now; nothing is run."""
        if not self.previews(arguments):
            return None
        from hitl_tui.tables.engine import TableError, in_thread
        from hitl_tui.teams.analysis.table_preview import day_asked, planned_queries

        inputs, today = await context.inputs(), day_asked(arguments)
        query = str(arguments.get("query", "")).strip() or context.query
        try:
            return QueryPreview(tuple(await in_thread(planned_queries, query, context.workspace, inputs, today)))
        except TableError as error:
            raise BadInput(error.message) from error

    async def prepare(self, preparation: Preparation) -> int:
        """Find out what the tables of the folder hold, unless they are few, or somebody's home is in it."""
        if not preparation.holds_home:
            from hitl_tui.tables.files import table_files

            files = await asyncio.to_thread(table_files, preparation.workspace)
            if len(files) > _FEW:  # a few are read when they are asked, and until then cost no memory
                from hitl_tui.tables.engine import TableError, in_thread
                from hitl_tui.tables.profile import profiles

                with suppress(TableError):  # whoever asks is told
                    await in_thread(profiles, files[::-1], _LONGEST)  # a question meanwhile begins with the first
        return 0

    def build(self) -> TeamGraph:
        """Return the graph of six stages: prepare, preprocess, analyse, generate_insights, create_report, finalise."""
        from hitl_tui.teams.analysis.analysis_graph import graph

        return graph()


def teams(sources: TeamSources) -> list[Team]:
    """Return the analysis team."""
    return [AnalysisTeam()]
