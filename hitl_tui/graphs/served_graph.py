"""`ServedGraph`: a graph that a LangGraph server runs, with as much of a compiled one as running and viewing it takes.

Its threads and its runs are the server's. Each run segment that is sent there carries a name, so that it is sent once:
one that is there already is followed to its end, also by a process that comes after the one that sent it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar, cast

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.graph import Edge, Graph, Node
from langgraph.types import Command, Interrupt, PregelTask, StateSnapshot

from hitl_tui.config.declared_graphs import GraphDeclaration
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line
from hitl_tui.graphs.graph_target import GraphError
from hitl_tui.graphs.langgraph_server import LangGraphServer, ServedFacts, ServerUnreachable

if TYPE_CHECKING:
    from langgraph_sdk.client import LangGraphClient

T = TypeVar("T")

SEGMENT = "hitl_stretch"
"""Key in a run's metadata: the segment that it was sent for."""

STRICT_RESUME = "__pregel_strict_resume"
"""Private to LangGraph: a resume that names an interrupt which isn't pending raises instead of answering another."""
_NOT_PENDING = "UnknownInterruptError"
"""What it raises then."""
_ACTIVE = ("pending", "running")
_MODES = ("updates", "custom", "tasks", "values")
_PAGE = 50
"""Runs of a thread that are read at once, the newest first."""
_PAUSE = 1.0
"""Seconds between two looks at a run that is followed without its events."""
_AWAY = 60.0
"""Seconds for which a server that can't be reached is waited for while a run goes on there."""
_CANCELLING = 5.0


class ServedRunFailed(Exception):
    """A run failed on its server; the text says with what."""


class ServedRunCancelled(GraphError):
    """Somebody cancelled a run on its server; how far it got isn't known."""


class _NoRows:
    """Stands for the saver, whose rows only the server sees."""

    serde = None

    async def aget_tuple(self, config: RunnableConfig) -> None:
        return None


class ServedGraph:
    """A graph of a LangGraph server.

    Args:
        declaration: which.
        facts: what the server told of it.
    """

    interrupt_before_nodes: Sequence[str] = ()
    interrupt_after_nodes: Sequence[str] = ()
    context_schema: type | None = None
    store = None
    checkpointer = _NoRows()

    def __init__(self, declaration: GraphDeclaration, facts: ServedFacts) -> None:
        self.facts = facts
        self.server = LangGraphServer.of(declaration)
        self._assistant = str(facts.assistant["assistant_id"])
        names = dict.fromkeys(str(node["id"]).split(":")[0] for node in facts.drawing["nodes"])
        self.nodes = {name: None for name in names if not name.startswith("__")}
        self.channels = dict.fromkeys((facts.schemas.get("state_schema") or {}).get("properties", ()))
        self._client: tuple[asyncio.AbstractEventLoop, LangGraphClient] | None = None

    def get_graph(self, *, xray: bool = False) -> Graph:
        """Return its drawing, its subgraphs' within."""
        drawing = self.facts.drawing
        nodes = {name: Node(name, name, None, None) for name in (str(node["id"]) for node in drawing["nodes"])}
        edges = [
            Edge(str(e["source"]), str(e["target"]), e.get("data"), bool(e.get("conditional")))
            for e in drawing["edges"]
        ]
        return Graph(nodes, edges)

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of what it takes: of a graph that tells none its state.

        Nothing of it is required: LangGraph takes any part of most states, and doesn't tell of which.
        """
        schemas = self.facts.schemas
        found = schemas.get("input_schema") or schemas.get("state_schema") or {}
        return {k: v for k, v in found.items() if k != "required"}

    @property
    def context_fields(self) -> dict[str, Any]:
        """JSON Schema of what it takes as context; what nobody gives is the assistant's, or the schema's default."""
        schemas = self.facts.schemas
        found = schemas.get("context_schema") or schemas.get("config_schema") or {}
        fields = {
            name: {k: v for k, v in part.items() if k != "default"}
            for name, part in found.get("properties", {}).items()
        }
        return {**{k: v for k, v in found.items() if k != "required"}, **({"properties": fields} if fields else {})}

    @property
    def state_schema(self) -> dict[str, Any]:
        """JSON Schema of its state; empty where it tells none."""
        return dict(self.facts.schemas.get("state_schema") or {})

    async def aclose(self) -> None:
        """Close the connection to its server."""
        client, self._client = self._client, None
        if client is not None:
            await client[1].aclose()

    @property
    def _api(self) -> LangGraphClient:
        loop = asyncio.get_running_loop()
        if self._client is None or self._client[0] is not loop:
            self._client = (loop, self.server.client())
        return self._client[1]

    # Where a thread stands -------------------------------------------------------------------------------------

    async def aget_state(self, config: RunnableConfig, *, subgraphs: bool = False) -> StateSnapshot:
        """Return where a thread stands, as LangGraph's own `aget_state` does.

        Raises:
            GraphError: the server can't be reached, or refuses.
        """
        from langgraph_sdk.errors import NotFoundError

        place = config["configurable"]
        thread = str(place["thread_id"])
        with self.server.told():
            try:
                state = await self._api.threads.get_state(
                    thread, checkpoint_id=place.get("checkpoint_id") or None, subgraphs=subgraphs
                )
            except NotFoundError:
                return StateSnapshot({}, (), config, None, None, None, (), ())
        return _snapshot(cast("Mapping[str, Any]", state))

    async def aupdate_state(
        self, config: RunnableConfig, values: Mapping[str, Any] | None, as_node: str | None = None
    ) -> RunnableConfig:
        """Change the state of a thread, as LangGraph's own `aupdate_state` does.

        Raises:
            GraphError: the server can't be reached, or refuses.
        """
        place = config["configurable"]
        with self.server.told():
            written: Mapping[str, Any] = await self._api.threads.update_state(
                str(place["thread_id"]),
                None if values is None else dict(values),
                as_node=as_node,
                checkpoint_id=place.get("checkpoint_id") or None,
            )
        return {"configurable": {**written["checkpoint"]}}

    # Runs ------------------------------------------------------------------------------------------------------

    async def astream(
        self,
        value: Any,
        config: RunnableConfig,
        *,
        interrupt_before: Sequence[str] | str = (),
        interrupt_after: Sequence[str] | str = (),
        **_: object,
    ) -> AsyncIterator[dict[str, Any]]:
        """Let the server run a segment of a thread, or follow the run that it was sent for already.

        Args:
            value: an input, answers (`Command(resume={id: answer})`), or None to go on.
            config: its thread, what is configurable, which nodes get as context, too, and in its metadata the name of
                the segment.
            interrupt_before, interrupt_after: nodes to stop before and after; "*" for all.

        Raises:
            ServedRunFailed: it failed there. GraphError: somebody else's run is at work on the thread, or the server
                can't be reached or refuses.
        """
        thread = str(config["configurable"]["thread_id"])
        segment = str(config["metadata"][SEGMENT])
        run = await self._sent(thread, segment)
        if run is None and (active := await self._active(thread)):
            if value is not None:
                raise self._busy()
            run = active
        if run is None and value is None and not _goes_on(await self.aget_state(config)):
            return
        settings: dict[str, Any] = {
            "input": None if isinstance(value, Command) else value,
            "command": {"resume": value.resume} if isinstance(value, Command) else None,
            "metadata": dict(config["metadata"]),
            "interrupt_before": interrupt_before or None,
            "interrupt_after": interrupt_after or None,
            "config": _settings(config, strict=isinstance(value, Command)),
        }
        try:
            if run is None:
                async for part in self._new_run(thread, settings):
                    yield part
                run = await self._sent(thread, segment)
            if run is not None:
                await self._follow(thread, run)
        except (asyncio.CancelledError, GeneratorExit):
            await self._cancel(thread, segment)
            raise

    async def _new_run(self, thread: str, settings: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:
        """Send a run and yield its events; where the connection is lost they end, and the run goes on."""
        import httpx
        from langgraph_sdk.errors import ConflictError

        sent = False

        def created(_: object) -> None:
            nonlocal sent
            sent = True

        with self.server.told():
            try:
                async for event in self._api.runs.stream(
                    thread,
                    self._assistant,
                    stream_mode=cast("Any", _MODES),
                    stream_subgraphs=True,
                    multitask_strategy="reject",
                    if_not_exists="create",
                    on_disconnect="continue",
                    durability="sync",
                    on_run_created=created,
                    **settings,
                ):
                    kind, *place = event.event.split("|")
                    if kind in _MODES:
                        yield {"type": kind, "ns": tuple(place), "data": event.data}
            except ConflictError as error:
                raise self._busy() from error
            except httpx.TransportError:
                if not sent:
                    raise

    def _busy(self) -> GraphError:
        return GraphError(
            Message("Somebody else's run is at work on this thread of {}; nothing was sent.", self.server.shown)
        )

    async def _sent(self, thread: str, segment: str) -> str | None:
        """Return the run that a segment was sent for; None where it wasn't."""
        return await self._run(thread, lambda run: (run.get("metadata") or {}).get(SEGMENT) == segment)

    async def _active(self, thread: str) -> str | None:
        """Return the run that is at work on a thread."""
        return await self._run(thread, lambda run: run["status"] in _ACTIVE)

    async def _run(self, thread: str, is_it: Callable[[Mapping[str, Any]], bool]) -> str | None:
        """Return the newest run of a thread that is what is looked for; None for none."""
        from langgraph_sdk.errors import NotFoundError

        seen = 0

        async def ask() -> list[Mapping[str, Any]]:
            try:
                return cast("list[Mapping[str, Any]]", await self._api.runs.list(thread, limit=_PAGE, offset=seen))
            except NotFoundError:
                return []

        while True:
            page = await self._answered(ask)
            if (found := next((run["run_id"] for run in page if is_it(run)), None)) or len(page) < _PAGE:
                return found
            seen += len(page)

    async def _answered(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Return what a server answers; it is asked again for a while where it can't be reached."""
        loop = asyncio.get_running_loop()
        until = loop.time() + _AWAY
        while True:
            try:
                with self.server.told():
                    return await ask()
            except ServerUnreachable:
                if loop.time() > until:
                    raise
            await asyncio.sleep(_PAUSE)

    async def follow(self, thread: str, segment: str) -> bool:
        """Wait for the end of the run that a segment was sent for; return False where it never was.

        Raises:
            ServedRunFailed: it failed. ServedRunCancelled: it was cancelled. GraphError: the server can't be reached.
        """
        run = await self._sent(thread, segment)
        if run is not None:
            await self._follow(thread, run)
        return run is not None

    async def _follow(self, thread: str, run: str) -> None:
        """Wait for the end of a run.

        Raises:
            ServedRunFailed: it failed. GraphError: the server can't be reached.
        """
        while True:
            found = await self._answered(lambda: self._api.runs.get(thread, run))
            if found["status"] not in _ACTIVE:
                break
            await asyncio.sleep(_PAUSE)
        if found["status"] in ("error", "timeout"):
            why = await self._why(thread, found["status"])
            if _NOT_PENDING in why:
                why = Message("somebody else answered on {} meanwhile, and this answer didn't count", self.server.shown)
            raise ServedRunFailed(why)
        if found["status"] == "interrupted" and _goes_on(
            await self.aget_state({"configurable": {"thread_id": thread}})
        ):
            raise ServedRunCancelled(
                Message("Its run was cancelled on {}; what it did by then stays.", self.server.shown)
            )

    async def _why(self, thread: str, status: str) -> str:
        """Return what the run of a thread failed with."""
        found = await self._answered(lambda: self._api.threads.get(thread))
        error = found.get("error")
        if isinstance(error, Mapping):
            error = ": ".join(str(error[key]) for key in ("error", "message") if error.get(key))
        return one_line(str(error or ""), 400) or Message("it ended with {} on {}", status, self.server.shown)

    async def _cancel(self, thread: str, segment: str) -> None:
        """Let a server end what a segment was sent for."""
        with suppress(Exception):
            async with asyncio.timeout(_CANCELLING):
                if (run := await self._sent(thread, segment)) is not None:
                    await self._api.runs.cancel(thread, run, action="interrupt")


def _goes_on(state: StateSnapshot) -> bool:
    """Return whether a thread has something to run without an answer: it stands at no question, or something failed."""
    asks = any(task.interrupts for task in state.tasks)
    return bool(state.next) and (not asks or any(task.error is not None for task in state.tasks))


def _settings(config: RunnableConfig, *, strict: bool) -> dict[str, Any]:
    """Return what a run is configured with: a server makes the context of what is configurable.

    Args:
        config: the run's.
        strict: see `STRICT_RESUME`.
    """
    ours = ("graph_id", "assistant_id", "thread_id", "user_id")
    configurable = {k: v for k, v in config["configurable"].items() if k not in ours and not k.startswith("__")}
    if strict:
        configurable[STRICT_RESUME] = True
    found: dict[str, Any] = {key: config[key] for key in ("tags", "recursion_limit") if key in config}
    return {**found, "configurable": configurable}


def _snapshot(state: Mapping[str, Any]) -> StateSnapshot:
    """Return a thread's state as LangGraph gives that of its own threads."""
    tasks = tuple(_task(task) for task in state.get("tasks") or ())
    place = state.get("checkpoint") or {}
    parent = state.get("parent_checkpoint")
    return StateSnapshot(
        values=state.get("values") or {},
        next=tuple(state.get("next") or ()),
        config={"configurable": dict(place)},
        metadata=state.get("metadata"),
        created_at=state.get("created_at"),
        parent_config={"configurable": dict(parent)} if parent else None,
        tasks=tasks,
        interrupts=tuple(interrupt for task in tasks for interrupt in task.interrupts),
    )


def _task(task: Mapping[str, Any]) -> PregelTask:
    within = task.get("state")
    error = task.get("error")
    return PregelTask(
        id=task["id"],
        name=task["name"],
        path=tuple(task.get("path") or ()),
        error=Exception(error) if error else None,
        interrupts=tuple(
            Interrupt(value=i.get("value"), id=i["id"], response_schema=i.get("response_schema"))
            for i in task.get("interrupts") or ()
        ),
        state=_snapshot(within) if within else None,
        result=task.get("result"),
    )
