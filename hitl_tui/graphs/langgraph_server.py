"""A running LangGraph server, reached by LangGraph's own client; its failures become one sentence."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit
from uuid import UUID, uuid5

from hitl_tui.config.declared_graphs import GraphDeclaration, server_problem, team_name
from hitl_tui.core.addresses import is_here
from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_text import digest
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line
from hitl_tui.graphs.graph_target import GraphError

if TYPE_CHECKING:
    from langgraph_sdk.client import LangGraphClient, SyncLangGraphClient

ASSISTANTS = UUID("6ba7b821-9dad-11d1-80b4-00c04fd430c8")
"""The namespace from which a server makes the id of a graph's default assistant."""
RUN = "hitl_run"
"""Key in a checkpoint's metadata: the run that wrote it."""
_THREADS = UUID("3f1c5a52-7f3e-5a3b-9b0e-6d1f0c1f2a77")
"""The namespace from which the thread of a run is made that has no thread of the server's."""
_MOST = 100
"""Assistants that a server is asked for at once."""
_KEY_HEADER = "x-api-key"
"""The header that LangGraph's client sends its key in."""
_SECONDS = 10.0
"""How long one answer may take that isn't a run's."""
_QUIET = 60.0
"""Seconds without a sign of life from a run's events, after which the run itself is looked at."""


@dataclass(frozen=True, slots=True)
class LangGraphServer:
    """Where a server is, and what it is told with every request.

    Args:
        url: its address.
        headers: by name.
    """

    url: str
    headers: Mapping[str, str]

    @classmethod
    def of(cls, declaration: GraphDeclaration) -> LangGraphServer:
        """Return the server of a graph.

        Raises:
            BadInput: a variable that holds one of its headers isn't set.
        """
        headers = {}
        for header, variable in declaration.header_env.items():
            value = declaration.env.get(variable, "") if variable not in os.environ else os.environ[variable]
            if not value:
                place = one_line(declaration.target, 200)
                raise BadInput(
                    Message("{} isn't set, or empty; it holds the header {} for {}.", variable, header, place)
                )
            if not value.isascii() or not value.isprintable():
                raise BadInput(Message("What {} holds can't be sent as a header.", variable))
            headers[header.lower()] = value
        return cls(declaration.target, headers)

    @property
    def _keeps_key(self) -> bool:
        """Whether LangGraph's key stays here: it goes to nobody whom others could pretend to be."""
        return not (self.url.lower().startswith("https://") or is_here(self.url))

    @property
    def _given(self) -> dict[str, Any]:
        """What a client is made of; the key is LangGraph's own, unless a header is named for it."""
        headers = dict(self.headers)
        named = headers.pop(_KEY_HEADER, None)
        key = {"api_key": named} if named is not None or self._keeps_key else {}
        return {"url": self.url, "headers": headers, **key}

    def client(self) -> LangGraphClient:
        """Return a client for one event loop; whoever asks closes it."""
        from langgraph_sdk import get_client

        return get_client(**self._given, timeout=(_SECONDS, _QUIET, _SECONDS, _SECONDS))

    @contextmanager
    def asked(self) -> Iterator[SyncLangGraphClient]:
        """Give a client that waits for its answers.

        Raises:
            GraphError: the server can't be reached, or refuses.
        """
        from langgraph_sdk import get_sync_client

        with self.told():
            self._reach()
            with get_sync_client(**self._given, timeout=_SECONDS) as c:
                try:
                    yield c
                except (LookupError, TypeError, AttributeError) as error:
                    raise ValueError from error  # it is JSON, of something else

    def _reach(self) -> None:
        """Connect once: LangGraph's client tries for eight seconds before it says that nobody is there.

        Raises:
            OSError: nobody is.
        """
        at = urlsplit(self.url)
        port = at.port or (443 if at.scheme.lower() == "https" else 80)
        try:
            socket.create_connection((at.hostname or "", port), _SECONDS).close()
        except UnicodeError as error:
            raise OSError(str(error)) from error

    @contextmanager
    def told(self) -> Iterator[None]:
        """Make one sentence of whatever goes wrong with a request.

        Raises:
            GraphError: the server can't be reached, or refuses.
        """
        import httpx

        try:
            yield
        except httpx.HTTPStatusError as error:
            raise self._refused(error) from error
        except (httpx.LocalProtocolError, UnicodeEncodeError):  # what they say repeats the key
            raise GraphError(Message("What {} holds can't be sent as a header.", "LANGGRAPH_API_KEY")) from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            raise ServerUnreachable(self._unreachable(error)) from error
        except ValueError as error:  # what answers speaks no JSON
            raise GraphError(Message("What answers at {} is no LangGraph server.", self.shown)) from error

    @property
    def shown(self) -> str:
        """Its address, as a person may see it."""
        return one_line(self.url, 200)

    def _unreachable(self, error: Exception) -> Message:
        said = one_line(getattr(error, "strerror", None) or str(error), 200) or type(error).__name__
        return Message("The LangGraph server at {} can't be reached: {}.", self.shown, said.rstrip("."))

    def _refused(self, error: Any) -> GraphError:
        status = error.response.status_code
        if status in (401, 403):
            more = Message("Set LANGGRAPH_API_KEY, or name a header's variable: --header Authorization=VARIABLE")
            if self._keeps_key:
                more = Message(
                    "LANGGRAPH_API_KEY isn't sent over http to another machine; use https, or name a header."
                )
            return GraphError(Message("The LangGraph server at {} refuses ({}).", self.shown, status), help=more)
        said = one_line(str(getattr(error, "message", "") or error), 300).rstrip(".")
        return GraphError(Message("The LangGraph server at {} answers {}: {}.", self.shown, status, said))


class ServerUnreachable(GraphError):
    """A LangGraph server can't be reached now; what runs there goes on."""


def server_thread(lineage: str, thread: str) -> str:
    """Return the id of a thread on a server: a thread of ours gets one of its own session, the server's stay.

    Args:
        lineage: of the session, which no other has.
        thread: what the session calls it.
    """
    try:
        return str(UUID(thread))
    except ValueError:
        return str(uuid5(_THREADS, f"{lineage} {thread}"))


@dataclass(frozen=True, slots=True)
class ServedFacts:
    """What a server tells of one of its assistants.

    Args:
        url: the server's address.
        assistant: as it is there.
        schemas: of its input, state and context.
        drawing: its nodes and edges.
    """

    url: str
    assistant: Mapping[str, Any]
    schemas: Mapping[str, Any]
    drawing: Mapping[str, Any]

    @property
    def name(self) -> str:
        """What a question calls it that an approval of a run binds."""
        return Message("assistant {} ({})", self.assistant.get("name") or self.assistant["graph_id"], self.url)

    @property
    def digest(self) -> str:
        """SHA-256 of all that decides what a run of it does, as far as its server tells."""
        kept = ("assistant_id", "graph_id", "version", "config", "context")
        return digest([{key: self.assistant.get(key) for key in kept}, self.schemas, self.drawing])


def facts_from(declaration: GraphDeclaration) -> ServedFacts:
    """Ask a server about the assistant that a graph is.

    Raises:
        GraphError: it can't be reached, or has no such assistant. BadInput: a header is missing.
    """
    server = LangGraphServer.of(declaration)
    with server.asked() as client:
        found = _assistant(client, server, declaration.assistant)
        assistant_id = found["assistant_id"]
        drawing = client.assistants.get_graph(assistant_id, xray=True)
        schemas = cast("Mapping[str, Any]", client.assistants.get_schemas(assistant_id))
        return ServedFacts(server.shown, found, schemas, drawing)


def served_declaration(
    url: str, assistant: str, thread: str, header_env: Mapping[str, str]
) -> tuple[GraphDeclaration, bool]:
    """Return the graph that a person names by a server's address, and whether its thread waits for an answer.

    Args:
        url: the address.
        assistant: an assistant's id or name, or a graph's; empty for the thread's, or the only one.
        thread: the thread to go on with; empty for one of its own.
        header_env: variables that hold headers, by the header's name.

    Raises:
        GraphError: the server can't be reached, has no such thing, or has several. BadInput: a header is missing.
    """
    if wrong := server_problem(url):
        raise BadInput(Message("The address {}.", wrong))
    declaration = GraphDeclaration(
        "graph", url.rstrip("/"), str(Path.cwd()), assistant=assistant, thread=thread, header_env=header_env
    )
    server = LangGraphServer.of(declaration)
    with server.asked() as client:
        waits = False
        if thread:
            there = _thread(client, server, thread)
            waits, metadata = bool(there.get("interrupts")), there.get("metadata") or {}
            graph = str(metadata.get("graph_id") or "")
            assistant = assistant or str(metadata.get("assistant_id") or graph)
        found = _assistant(client, server, assistant)
        if thread and graph not in ("", found["graph_id"]):
            named = one_line(assistant, 60)
            raise GraphError(Message("The thread is of the graph {}, and {} runs {}.", graph, named, found["graph_id"]))
    name = str(found.get("name") or found["graph_id"])
    return replace(declaration, name=team_name(name), assistant=str(found["assistant_id"])), waits


@dataclass(frozen=True, slots=True)
class WaitingThread:
    """A thread of a server that stands at a question.

    Args:
        id: its own.
        checkpoint: where it stands.
        run: which run of ours led there; empty where somebody else's did.
    """

    id: str
    checkpoint: str
    run: str


def waiting_threads(declaration: GraphDeclaration, most: int) -> tuple[GraphDeclaration, list[WaitingThread]]:
    """Return an assistant with its id, and its threads that wait, those that have waited longest first.

    Args:
        declaration: which assistant.
        most: so many threads at most.

    Raises:
        GraphError: the server can't be reached, or has no such assistant. BadInput: a header is missing.
    """
    server = LangGraphServer.of(declaration)
    with server.asked() as client:
        found = _assistant(client, server, declaration.assistant)
        threads = client.threads.search(
            metadata={"assistant_id": found["assistant_id"]}, status="interrupted", limit=most,
            sort_by="updated_at", sort_order="asc",
        )  # fmt: skip
        asking = [str(thread["thread_id"]) for thread in threads if thread.get("interrupts")]
        waiting = [_where(client, thread) for thread in asking]
    return replace(declaration, assistant=str(found["assistant_id"])), waiting


def thread_now(declaration: GraphDeclaration) -> WaitingThread | None:
    """Return where a declared graph's thread stands; None where it waits for nothing, or isn't there any more.

    Raises:
        GraphError: the server can't be reached. BadInput: a header is missing.
    """
    from langgraph_sdk.errors import NotFoundError

    with LangGraphServer.of(declaration).asked() as client:
        try:
            waits = client.threads.get(declaration.thread).get("interrupts")
            return _where(client, declaration.thread) if waits else None
        except NotFoundError:
            return None


def _where(client: SyncLangGraphClient, thread: str) -> WaitingThread:
    state = cast("Mapping[str, Any]", client.threads.get_state(thread))
    place, metadata = state.get("checkpoint") or {}, state.get("metadata") or {}
    return WaitingThread(thread, str(place.get("checkpoint_id", "")), str(metadata.get(RUN, "")))


def _thread(client: SyncLangGraphClient, server: LangGraphServer, thread: str) -> Mapping[str, Any]:
    from langgraph_sdk.errors import NotFoundError

    try:
        return cast("Mapping[str, Any]", client.threads.get(str(UUID(thread))))
    except (ValueError, NotFoundError) as error:
        raise GraphError(Message('{} has no thread "{}".', server.shown, one_line(thread, 60))) from error


def _assistant(client: SyncLangGraphClient, server: LangGraphServer, wanted: str) -> Mapping[str, Any]:
    """Return the assistant that an id, a name or a graph's name means; the only graph's where nothing is named."""
    from langgraph_sdk.errors import NotFoundError

    try:
        return cast("Mapping[str, Any]", client.assistants.get(str(UUID(wanted))))
    except ValueError:
        pass
    except NotFoundError as error:
        raise GraphError(Message('{} has no assistant "{}".', server.shown, one_line(wanted, 60))) from error
    known = cast("list[Mapping[str, Any]]", client.assistants.search(limit=_MOST))
    defaults = {a["graph_id"]: a for a in known if a["assistant_id"] == str(uuid5(ASSISTANTS, a["graph_id"]))}
    named: dict[str, Mapping[str, Any]] = {str(a.get("name") or a["graph_id"]): a for a in known} | defaults
    if not wanted and len(defaults or named) == 1:
        return next(iter((defaults or named).values()))
    alike = [a for a in known if wanted and a.get("name") == wanted] if wanted not in defaults else []
    if len(alike) > 1:
        ids = ", ".join(str(a["assistant_id"]) for a in alike)
        raise GraphError(
            Message("{} has several assistants of that name; say which: --assistant {}.", server.shown, ids)
        )
    if wanted in named:
        return named[wanted]
    names = one_line(", ".join(sorted(named)), 300)
    if not named:
        raise GraphError(Message("{} has no assistants.", server.shown))
    if not wanted:
        raise GraphError(Message("{} has {} assistants; say which: --assistant {}.", server.shown, len(named), names))
    raise GraphError(Message('{} has no assistant "{}"; known: {}.', server.shown, one_line(wanted, 60), names))
