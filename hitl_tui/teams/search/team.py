"""The search team: full text search over the documents of the workspace."""

from __future__ import annotations

from collections.abc import Sequence

from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_types import Json, JsonObject, JsonSchema
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import Risk
from hitl_tui.teams.arguments import exact_arguments
from hitl_tui.teams.contract import Preparation, Team, TeamGraph, TeamSources
from hitl_tui.teams.search.file_walk import clean_patterns

DEFAULT_LIMIT = 8
MAX_LIMIT = 20
MAX_QUERY = 20_000


class SearchTeam(Team):
    """Finds passages in the workspace's documents and cites file and line.

    Args:
        documents: files, folders or patterns relative to the workspace; everything when left out.

    Raises:
        BadInput: a pattern leads out of the workspace.
    """

    name = "search_team"
    description = Message("Full text search over the documents of the workspace, with citations")
    risk = Risk.LOW
    max_retries = 2
    timeout = 120.0
    reads_results = False

    def __init__(self, documents: Sequence[str] = (".",)) -> None:
        self.documents = clean_patterns(documents)

    @property
    def input_schema(self) -> JsonSchema:
        """JSON Schema of the arguments."""
        return {
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": MAX_QUERY,
                    "description": str(Message("what to look for, in words")),
                },
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MAX_LIMIT,
                    "default": DEFAULT_LIMIT,
                    "description": str(Message("how many passages at most")),
                },
                "documents": {
                    "type": "array",
                    "items": {"type": "string"},
                    "minItems": 1,
                    "default": list(self.documents),
                    "description": str(Message("files, folders or patterns to search")),
                },
            },
            "required": ["query", "limit", "documents"],
            "additionalProperties": False,
        }

    def bind(self, text: str, arguments: JsonObject) -> dict[str, Json]:
        """Return query, limit and documents; the text is the query unless one is given.

        Raises:
            BadInput: no query, an unknown parameter, or a value of the wrong kind.
        """
        named: dict[str, Json] = {"query": text, **arguments}
        if isinstance(named.get("documents"), str):
            named["documents"] = [named["documents"]]
        given = exact_arguments(self.name, named, self.input_schema)
        query = str(given["query"]).strip().encode("utf-8", "replace").decode("utf-8")
        if not query:
            raise BadInput(Message("The search needs a query: some words to look for."))
        documents = given["documents"]
        assert isinstance(documents, list)
        return {**given, "query": query, "documents": list(clean_patterns([str(item) for item in documents]))}

    def build(self) -> TeamGraph:
        """Return the graph find → report, not compiled."""
        from hitl_tui.teams.search.search_graph import search_graph

        return search_graph()

    async def prepare(self, preparation: Preparation) -> int:
        """Index the folder in a process of its own, unless it is small, or somebody's home."""
        from hitl_tui.teams.search.index_build import IndexPlace, prepare

        place = IndexPlace(preparation.workspace, self.documents, preparation.cache, preparation.secrets)
        return await prepare(place, preparation)


def teams(sources: TeamSources) -> list[Team]:
    """Return the search team, for the documents that a workspace declares."""
    return [SearchTeam(sources.config.search.documents)]
