"""Describes or calls somebody's function or tool, in a process of its own.

Run as a script with a request on standard input, JSON; its answer goes to the descriptor whose number is in
`TEAM_ANSWER_FD`. What the function prints is its output and isn't part of that. It imports nothing of this program, so
that names of the workspace's modules are free.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import inspect
import json
import os
import sys
import traceback
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

LIMIT = 1_000_000
"""Bytes of an answer; what is larger belongs into a file."""
INPUTS = "inputs"
"""The parameter that takes the results of earlier steps."""
_SHOWN = 300


class Unusable(Exception):
    """What was asked for can't be described or called: `reason` and the values that its sentence names."""

    def __init__(self, reason: str, *values: object) -> None:
        super().__init__(reason)
        self.reason = reason
        self.values = [str(value)[:_SHOWN] for value in values]


class Misfit(Exception):
    """Arguments that don't fit: the field and what is wrong with it."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(why)
        self.field = field
        self.why = why


class Failure(Exception):
    """A tool says itself that it failed."""


class FunctionCall:
    """A plain function, synchronous or not.

    Args:
        function: it.

    Raises:
        Unusable: its parameters can't be given as JSON.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        from pydantic import PydanticUserError, TypeAdapter

        self._function = function
        try:
            signature = inspect.signature(function)
            hints = _hints(function)
        except (NameError, TypeError, ValueError) as error:
            raise Unusable("hints", error) from error
        kept = []
        for parameter in signature.parameters.values():
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
                raise Unusable("positional", parameter.name)
            if parameter.name != INPUTS:
                hint = _described(hints.get(parameter.name, Any))
                kind = parameter.kind if parameter.kind is parameter.VAR_KEYWORD else parameter.KEYWORD_ONLY
                kept.append(parameter.replace(annotation=hint, kind=kind))
        self.takes_inputs = INPUTS in signature.parameters

        def taken(**arguments: Any) -> dict[str, Any]:
            return arguments

        taken.__name__ = taken.__qualname__ = getattr(function, "__name__", "function")
        taken.__dict__["__signature__"] = inspect.Signature(kept)
        taken.__annotations__ = {parameter.name: parameter.annotation for parameter in kept}
        try:
            adapter: Any = TypeAdapter
            self._adapter = adapter(taken)
            self.schema: dict[str, Any] = self._adapter.json_schema()
        except PydanticUserError as error:  # a type that JSON has no form for
            raise Unusable("type", str(error).split("\n")[0]) from error

    @property
    def description(self) -> str:
        return inspect.getdoc(self._function) or ""

    async def call(self, arguments: Mapping[str, Any], inputs: Mapping[str, Any]) -> Any:
        from pydantic import ValidationError
        from pydantic_core import ArgsKwargs

        try:
            exact = self._adapter.validate_python(ArgsKwargs((), dict(arguments)))
        except ValidationError as error:
            raise _misfit(error) from None
        if self.takes_inputs:
            exact[INPUTS] = dict(inputs)
        found = self._function(**exact)
        return await found if inspect.isawaitable(found) else found


class RunnableCall:
    """A LangChain tool, or any other Runnable that isn't a graph.

    Args:
        runnable: it.
    """

    takes_inputs = False

    def __init__(self, runnable: Any) -> None:
        self._runnable = runnable
        if is_tool(runnable):
            found = runnable.tool_call_schema
            self.schema = found if isinstance(found, dict) else found.model_json_schema()
        else:
            self.schema = runnable.get_input_jsonschema()
        self._wrapped = self.schema.get("type") != "object" and "properties" not in self.schema
        if self._wrapped:
            inner = {k: v for k, v in self.schema.items() if k not in ("$defs", "title")}
            above = {"$defs": self.schema["$defs"]} if "$defs" in self.schema else {}
            self.schema = {"type": "object", "properties": {"input": inner}, "required": ["input"], **above}

    @property
    def description(self) -> str:
        return str(getattr(self._runnable, "description", "") or "")

    async def call(self, arguments: Mapping[str, Any], inputs: Mapping[str, Any]) -> Any:
        from pydantic import ValidationError

        tool = is_tool(self._runnable)
        validate = getattr(getattr(self._runnable, "args_schema", None), "model_validate", None)
        if tool and validate is not None:
            try:
                validate(dict(arguments))
            except ValidationError as error:
                raise _misfit(error) from None
        given = arguments["input"] if self._wrapped else dict(arguments)
        apart = tool and self._runnable.response_format == "content_and_artifact"
        if apart:
            given = {"type": "tool_call", "id": "call", "name": self._runnable.name, "args": given}
        try:
            found = await self._runnable.ainvoke(given)
        except Exception as error:
            if tool and type(error).__name__ == "ToolException":
                raise Failure(str(error)) from error
            raise
        if apart:
            return Structured(str(found.text), found.artifact)
        return found.content if hasattr(found, "content") and hasattr(found, "response_metadata") else found


class McpCall:
    """A tool of an MCP server.

    Args:
        server: the argument vector that starts it, or its address alone.
        tool: its name there.
        url: it is an address.
    """

    takes_inputs = False

    def __init__(self, server: list[str], tool: str, *, url: bool) -> None:
        self._server = server
        self._name = tool
        self._url = url
        self.schema: dict[str, Any] = {}
        self.description = ""

    async def look(self) -> None:
        """Ask the server what the tool takes."""

        async def asked(session: Any) -> Any:
            known: list[str] = []
            cursor = None
            while True:
                page = await session.list_tools(cursor) if cursor else await session.list_tools()
                for tool in page.tools:
                    if tool.name == self._name:
                        return tool
                    known.append(tool.name)
                cursor = page.nextCursor
                if not cursor:
                    raise Unusable("no tool", self._name, ", ".join(known))

        found = await self._session(asked)
        self.schema, self.description = dict(found.inputSchema), found.description or ""

    async def call(self, arguments: Mapping[str, Any], inputs: Mapping[str, Any]) -> Any:
        async def asked(session: Any) -> Any:
            return await session.call_tool(self._name, dict(arguments))

        found = await self._session(asked)
        text = "\n".join(part.text for part in found.content if getattr(part, "type", "") == "text")
        if found.isError:
            raise Failure(text)
        others = [part.type for part in found.content if getattr(part, "type", "") != "text"]
        said = "\n".join(filter(None, (text, ", ".join(others))))
        structured = found.structuredContent
        return said if structured is None else Structured(said, structured)

    async def _session(self, work: Callable[[Any], Any]) -> Any:
        try:
            from mcp import ClientSession, StdioServerParameters
            from mcp.client.stdio import stdio_client
            from mcp.client.streamable_http import streamablehttp_client
        except ImportError as error:
            raise Unusable("no mcp") from error
        if self._url:
            reached: Any = streamablehttp_client(self._server[0])
        else:
            program, *rest = self._server
            parameters = StdioServerParameters(command=program, args=rest, env=dict(os.environ), cwd=str(Path.cwd()))
            reached = stdio_client(parameters, errlog=sys.stderr)
        begun = False
        try:
            async with reached as (reading, writing, *_), ClientSession(reading, writing) as session:
                await session.initialize()
                begun = True
                return await work(session)
        except Exception as error:
            first = _first(error)
            if begun:
                raise first from error
            raise Unusable("server", str(first) or type(first).__name__) from error


@dataclass(frozen=True, slots=True)
class Structured:
    """A tool's result as text and as data."""

    text: str
    data: Any


def is_tool(value: object) -> bool:
    """Tell whether something is a LangChain tool."""
    return hasattr(value, "tool_call_schema") and hasattr(value, "ainvoke")


def _first(error: BaseException) -> BaseException:
    """Return what was raised first within a group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    there = function if inspect.isroutine(function) else getattr(function, "__call__", function)  # noqa: B004
    there = getattr(function, "func", there)  # a partial
    return typing.get_type_hints(there, include_extras=True)


def _described(hint: Any) -> Any:
    """Return a type hint whose texts, as in `Annotated[int, "won"]`, are its description."""
    from pydantic import Field

    if typing.get_origin(hint) is not typing.Annotated:
        return hint
    kind, *notes = typing.get_args(hint)
    kept = [Field(description=note) if isinstance(note, str) else note for note in notes]
    annotated: Any = typing.Annotated
    return annotated[(kind, *kept)]


def _misfit(error: Any) -> Misfit:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return Misfit(".".join(map(str, first["loc"])), first["msg"])


# Finding it ------------------------------------------------------------------------------------------------------


def load(target: str, folder: str) -> Any:
    """Return what `path.py:attribute` or `module:attribute` names.

    Raises:
        Unusable: there is no such thing. Whatever its module raises.
    """
    place, _, attribute = target.rpartition(":")
    for path in (Path(folder, "src"), Path(folder)):
        if path.is_dir():
            sys.path.insert(0, str(path))
    found: Any = _module(place, Path(folder))
    for part in attribute.split("."):
        if not hasattr(found, part):
            names = [n for n, v in vars(found).items() if callable(v) and not n.startswith("_")]
            raise Unusable("no attribute", Path(place).name, attribute, ", ".join(names[:20]))
        found = getattr(found, part)
    return found


def _module(place: str, folder: Path) -> ModuleType:
    if not place.endswith(".py"):
        try:
            return importlib.import_module(place)
        except ModuleNotFoundError as error:
            if error.name and (place == error.name or place.startswith(f"{error.name}.")):
                raise Unusable("no module", place) from error
            raise
    path = Path(os.path.realpath(folder / place))
    if not path.is_file():
        raise Unusable("no file", place)
    parts, root = [path.stem], path.parent
    while (root / "__init__.py").is_file() and root.name.isidentifier():
        parts.insert(0, root.name)
        root = root.parent
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    if len(parts) > 1 and path.stem.isidentifier():
        return importlib.import_module(".".join(parts))
    name = path.stem if path.stem.isidentifier() and path.stem not in sys.modules else f"hitl_tool_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise Unusable("no module", place)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # type hints are looked up there
    spec.loader.exec_module(module)
    return module


def callable_of(request: Mapping[str, Any]) -> Any:
    """Return what a request is about.

    Raises:
        Unusable: it can't be called.
    """
    if request["kind"] == "mcp":
        return McpCall(request["server"], request["tool"], url=bool(request["url"]))
    found = load(request["target"], request["folder"])
    name = request["target"].rpartition(":")[2]
    if hasattr(found, "stream_mode") or hasattr(found, "compile"):
        raise Unusable("graph", name)
    if is_tool(found) or (hasattr(found, "ainvoke") and hasattr(found, "get_input_jsonschema")):
        return RunnableCall(found)
    if inspect.isclass(found) or not callable(found):
        raise Unusable("not callable", name, type(found).__name__)
    return FunctionCall(found)


# The answer ------------------------------------------------------------------------------------------------------


async def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is asked for: a description, or the result of a call."""
    found = callable_of(request)
    if isinstance(found, McpCall) and request["op"] == "describe":
        await found.look()
    if request["op"] == "describe":
        return {"schema": found.schema, "description": found.description, "takes_inputs": found.takes_inputs}
    returned = await found.call(request["arguments"], request["inputs"])
    if isinstance(returned, str) or returned is None:
        return {"text": returned or "", "value": returned}
    from pydantic_core import to_jsonable_python

    if isinstance(returned, Structured):
        return {"text": returned.text, "value": to_jsonable_python(returned.data, fallback=str)}
    try:
        value = to_jsonable_python(returned)
        json.dumps(value, allow_nan=False)
    except ValueError as error:
        raise Unusable("result", type(returned).__name__) from error
    return {"value": value}


def _words(error: BaseException) -> str:
    """Return what an error says; of a failed validation each field, without addresses of pydantic's manual."""
    found = getattr(error, "errors", None)
    if type(error).__name__ == "ValidationError" and type(error).__module__.startswith("pydantic") and callable(found):
        return "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in found(include_url=False))
    return str(error)


def told(error: BaseException) -> dict[str, Any]:
    """Return what is said of an error."""
    if isinstance(error, Unusable):
        return {"unusable": error.reason, "values": error.values}
    if isinstance(error, Misfit):
        return {"misfit": error.field, "why": error.why}
    if isinstance(error, Failure):
        return {"failure": str(error)[:_SHOWN]}
    file, line = "", 0
    if isinstance(error, SyntaxError):
        file, line = Path(error.filename or "").name, error.lineno or 0
    for frame in traceback.extract_tb(error.__traceback__):
        own = not frame.filename.startswith(("<", str(Path(os.__file__).parent))) and frame.filename != __file__
        if own and "site-packages" not in frame.filename:
            file, line = Path(frame.filename).name, frame.lineno or 0
    said = error.msg if isinstance(error, SyntaxError) else _words(error)
    missing = error.name if isinstance(error, ModuleNotFoundError) else ""
    return {
        "raised": type(error).__name__,
        "said": said[:_SHOWN],
        "file": file,
        "line": line,
        "missing": missing or "",
        "traceback": "".join(traceback.format_exception(error))[-20_000:],
    }


def main() -> None:
    """Read the request, answer it."""
    descriptor = int(os.environ.pop("TEAM_ANSWER_FD"))
    os.set_inheritable(descriptor, False)
    request = json.loads(sys.stdin.buffer.read())
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    try:
        found = {"found": asyncio.run(answer(request))}
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever somebody's code raises, SystemExit too
        found = {"error": told(error)}
    data = json.dumps(found).encode()
    if len(data) > LIMIT:
        data = json.dumps({"error": {"unusable": "large", "values": [f"{LIMIT:,}"]}}).encode()
    with os.fdopen(descriptor, "wb") as pipe:
        pipe.write(data)


if __name__ == "__main__":
    main()
