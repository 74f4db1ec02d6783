"""`require_approval`: a Python function of anybody's program whose every call is asked about before it is made."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import secrets
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast, get_type_hints, overload

from hitl_tui.config.paths import default_data_folder
from hitl_tui.core.errors import BadInput, Refused, error_words
from hitl_tui.core.json_text import canonical, strict_json
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line
from hitl_tui.language import translate
from hitl_tui.ledger.entry_files import at_once
from hitl_tui.notifications.wake import wake
from hitl_tui.policy.secrecy import Secrecy
from hitl_tui.task_checkpoints.call_gate import Answer, Asked, CallGate, Said, usable_name
from hitl_tui.task_checkpoints.checkpoint import Call
from hitl_tui.task_checkpoints.folders import masc_folder

P = ParamSpec("P")
T = TypeVar("T")

_FOR_EVER = float(10**9)
_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)
_PROCESS = secrets.token_hex(6)


@overload
def require_approval(function: Callable[P, T], /) -> Callable[P, T]: ...


@overload
def require_approval(
    *,
    agent: str = "",
    name: str = "",
    session: str = "",
    wait: float | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> Callable[[Callable[P, T]], Callable[P, T]]: ...


def require_approval(
    function: Callable[P, T] | None = None,
    /,
    *,
    agent: str = "",
    name: str = "",
    session: str = "",
    wait: float | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> Any:
    """Let a function run only with what a rule or people allow, call by call; a decorator.

    People see the function's name, the first line of its docstring and every argument as JSON, and the function gets
    what is read from that by its annotations: nothing else can run. Who edits a call before it is approved changes it.

    Args:
        function: synchronous or not; `self` and `cls` are passed on unseen.
        agent: who makes the calls; the module's name unless given.
        name: what rules call the function; its own name unless given.
        session: a decision counts in one alone; this process, unless a name lets a program that is started again find
            what was decided about the calls it hadn't made.
        wait: seconds; for as long as the question is open unless given.
        folder: where the rules and the record are; the current folder unless given.

    Raises:
        BadInput: an argument can't be shown whole, or a name can't be used.
        Refused: the call isn't made: `rejected` by people, `denied` by a rule or `undecided` in time (`reason`).
    """

    def approved(function: Callable[P, T]) -> Callable[P, T]:
        asking = _Asking(function, agent, name, session or _PROCESS, _FOR_EVER if wait is None else wait, folder)
        if inspect.iscoroutinefunction(function):

            @wraps(function)
            async def called_later(*args: P.args, **kwargs: P.kwargs) -> Any:
                call = asking.call(args, kwargs)
                gate = await asyncio.to_thread(asking.gate)  # it reads the rules
                return await call.make(await gate.decide(asking.asked(call), asking.wait, asyncio.sleep))

            return cast("Callable[P, T]", called_later)

        @wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> T:
            call = asking.call(args, kwargs)
            said = _waited_for(lambda sleep: asking.gate().decide(asking.asked(call), asking.wait, sleep))
            return cast("T", call.make(said))

        return called

    return approved if function is None else approved(function)


class _Asking:
    """What all calls of a function have in common.

    Raises:
        BadInput: it can't be asked about call by call, or a name or a time can't be used.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        agent: str,
        name: str,
        session: str,
        wait: float,
        folder: str | os.PathLike[str] | None,
    ) -> None:
        if not inspect.isfunction(function) or inspect.isgeneratorfunction(function):
            raise BadInput(Message("{} is no function whose calls can be asked about.", one_line(repr(function), 80)))
        if not 0 <= wait <= _FOR_EVER:
            raise BadInput(Message("{} is a number of seconds, not {}.", "wait", wait))
        self.function, self.wait, self._folder = function, wait, folder
        self.tool = name or function.__qualname__.rpartition("<locals>.")[2]
        module = function.__module__
        script = Path(getattr(sys.modules.get(module), "__file__", None) or module).stem
        self._agent = usable_name("agent", agent or (script if module == "__main__" else module))
        self._session = usable_name("session", session)
        self.signature = inspect.signature(function)
        parameters = list(self.signature.parameters.values())
        unnamed = next((p for p in parameters if p.kind in _BY_POSITION), None)
        if unnamed is not None:
            raise BadInput(Message("The argument {} of {} needs a name to be shown by.", unnamed.name, self.tool))
        self.unseen = tuple(p.name for p in parameters[:1] if p.name in ("self", "cls"))
        self.rest = next((p.name for p in parameters if p.kind is inspect.Parameter.VAR_KEYWORD), "")
        self._question = (inspect.getdoc(function) or "").partition("\n")[0]

    def hint(self, name: str, value: object) -> Any:
        """Return what an argument is annotated with; the type of its value where it isn't, or can't be told."""
        try:
            hints = get_type_hints(self.function, include_extras=True)
        except NameError:
            hints = {}
        return hints.get(name if name in self.signature.parameters else self.rest, type(value))

    def call(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> _Call:
        return _Call(self, self.signature.bind(*args, **kwargs))

    def asked(self, call: _Call) -> Asked:
        """Return what people are asked."""
        return Asked(self._session, Call(self._agent, self.tool, call.shown, call.folder), self._question)

    def gate(self) -> CallGate:
        """Return what answers: the rules as they are now, and the people of the folder."""
        data = Path(default_data_folder(os.environ)).absolute()
        masc = masc_folder(None, Path(self._folder) if self._folder is not None else None)
        return CallGate(masc, data, os.environ, Secrecy(), partial(wake, data, (masc.parent,), os.environ))


class _Call:
    """One call. It is made with arguments that are read from what was shown, so that nothing else can run.

    Raises:
        BadInput: an argument can't be shown whole.
    """

    def __init__(self, asking: _Asking, bound: inspect.BoundArguments) -> None:
        bound.apply_defaults()
        self._asking, self._named, self.folder = asking, dict(bound.arguments), str(Path.cwd())
        self._unseen = {name: self._named.pop(name) for name in asking.unseen}
        self._named |= self._named.pop(asking.rest, {})
        written = {name: self._written(name, value) for name, value in self._named.items()}
        self.shown: JsonObject = {name: strict_json(text) for name, text in written.items()}
        self._read = {name: self._as_written(name, text) for name, text in written.items()}

    def make(self, said: Said) -> Any:
        """Make it as it was answered.

        Raises:
            BadInput: what somebody edited doesn't fit the function, or it would run elsewhere than was shown.
            Refused: it may not be made.
        """
        tool = self._asking.tool
        if said.answer is not Answer.ALLOW:
            ruled = said.step is not None and said.step.view is None
            reason = "undecided" if said.answer is Answer.ASK else "denied" if ruled else "rejected"
            words = " ".join(map(translate, said.reason))
            raise Refused(Message("{} isn't called. {}", tool, words), reason=reason)
        if str(Path.cwd()) != self.folder:
            raise BadInput(Message("{} isn't called: the current folder was changed since it was shown.", tool))
        given = self._read if said.arguments is None else self._edited(said.arguments)
        return self._asking.function(**self._unseen, **given)

    def _written(self, name: str, value: object) -> str:
        from pydantic_core import PydanticSerializationError, to_jsonable_python

        try:
            plain = to_jsonable_python(value)
            if isinstance(value, set | frozenset):  # in one order, so that another process asks about the same call
                plain.sort(key=canonical)
            return json.dumps(plain, allow_nan=False)
        except (PydanticSerializationError, ValueError) as error:
            raise self._not_whole(name) from error

    def _as_written(self, name: str, text: str) -> Any:
        """Return an argument as it is read from what is shown of it, if that is all of it."""
        from pydantic import PydanticUserError, TypeAdapter, ValidationError

        value = self._named[name]
        try:
            read = TypeAdapter(self._asking.hint(name, value)).validate_json(text)
        except (PydanticUserError, ValidationError) as error:
            raise self._not_whole(name) from error
        if type(read) is not type(value) or read != value:
            raise self._not_whole(name)
        return read

    def _not_whole(self, name: str) -> BadInput:
        return BadInput(
            Message(
                "The argument {} of {} has no JSON that shows all of it and can be read back.", name, self._asking.tool
            )
        )

    def _edited(self, arguments: JsonObject) -> dict[str, Any]:
        """Return the arguments as somebody changed them."""
        from pydantic import TypeAdapter, ValidationError

        tool, rest = self._asking.tool, self._asking.rest
        known = self._asking.signature.parameters.keys() - {rest, *self._asking.unseen}
        if lacking := next(iter(sorted(known - arguments.keys())), ""):
            raise BadInput(Message("{} isn't called as it was edited: {} is missing.", tool, lacking))
        if strange := next((name for name in arguments if name not in known and not rest), ""):
            raise BadInput(Message("{} isn't called as it was edited: it takes no {}.", tool, strange))
        given = dict(self._read)
        for name in given.keys() - arguments.keys():
            del given[name]
        try:
            for name, value in arguments.items():
                if name not in self.shown or canonical([value]) != canonical([self.shown[name]]):
                    hint = self._asking.hint(name, self._named.get(name))
                    given[name] = TypeAdapter(hint).validate_json(json.dumps(value), strict=True)
        except ValidationError as error:
            raise BadInput(Message("{} isn't called as it was edited: {}.", tool, error_words(error))) from error
        return given


def _waited_for(answer: Callable[[Callable[[float], Awaitable[None]]], Coroutine[Any, Any, Said]]) -> Said:
    """Return an answer that this thread waits for, also where an event loop runs in it."""
    ended = threading.Event()

    async def pause(seconds: float) -> None:
        if ended.wait(seconds):
            raise asyncio.CancelledError

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return at_once(answer(pause))
    pool = ThreadPoolExecutor(1)  # the record waits for nothing only in a thread without a loop
    try:
        return pool.submit(lambda: at_once(answer(pause))).result()
    finally:
        ended.set()
        pool.shutdown()
