"""`ChatModel`: one chat model, opened by LangChain's `init_chat_model`, asked for texts and for filled-in forms."""

from __future__ import annotations

import asyncio
import importlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hitl_tui.config.model_settings import ModelSettings
from hitl_tui.core.errors import HitlError
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.models.failures import (
    KEYS,
    ModelFailure,
    cut_off,
    failure_of,
    missing_key,
    missing_package,
    status_of,
    unknown_provider,
)
from hitl_tui.models.form_text import form_in, object_of
from hitl_tui.models.usage import Usage, counted, priced

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessageChunk, BaseMessage
    from langchain_core.tools import BaseTool

Told = Sequence[tuple[str, str]]
"""A conversation: role (`system`, `human`, `ai`) and text."""
Count = Callable[[Usage], Awaitable[None]]
LARGEST = 400_000
"""Characters of an answer; a longer one is cut off while it comes in."""
_WITH_FORMATS = "openai"
"""The provider whose protocol has a format of the answer that servers enforce."""
_UNKNOWN_FORMAT = (400, 422, 501)
"""How a server refuses a request that has what it doesn't know."""
_FORMAT = """

# The form "{name}"
{description} Answer with this form and nothing else: one JSON object that fits this JSON Schema.
{schema}"""


@dataclass(frozen=True, slots=True)
class Form:
    """What a model has to fill in.

    Args:
        name: what it is called.
        description: what it is for.
        schema: JSON Schema of an object.
    """

    name: str
    description: str
    schema: JsonObject

    def as_tool(self) -> JsonObject:
        """Return it as a tool of OpenAI's protocol."""
        function: JsonObject = {"name": self.name, "description": self.description, "parameters": self.schema}
        return {"type": "function", "function": function}

    def as_format(self) -> JsonObject:
        """Return it as the format of an answer in OpenAI's protocol."""
        return {"type": "json_schema", "json_schema": {"name": self.name, "schema": self.schema}}

    def told(self, told: Told) -> Told:
        """Return a conversation whose first instructions say it: not every server shows a format to its model."""
        asked = _FORMAT.format(name=self.name, description=self.description, schema=json.dumps(self.schema))
        if told and told[0][0] == "system":
            return [("system", told[0][1] + asked), *told[1:]]
        return [("system", asked.strip()), *told]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said.

    Args:
        text: its words.
        filled: the form that it filled in; None for none, or for something that is no JSON object.
        usage: what the call used.
    """

    text: str
    filled: dict[str, Any] | None
    usage: Usage


class ChatModel:
    """A chat model.

    Args:
        settings: which one, and how it is asked.
        environ: where its key is.

    Raises:
        BadInput: no such provider, or no key.
        MissingExtra: its package isn't installed.
    """

    def __init__(self, settings: ModelSettings, environ: Mapping[str, str]) -> None:
        self.settings = settings
        self._key = environ.get(KEYS.get(settings.provider, ""), "")
        self._knows_formats = settings.provider == _WITH_FORMATS
        self._by_format = False  # once the server took no notice of a form
        self.chat = self._open()

    def _open(self) -> BaseChatModel:
        settings = self.settings
        try:
            from langchain.chat_models import base, init_chat_model
        except ImportError as error:
            raise missing_package(settings, "langchain") from error
        known = base._BUILTIN_PROVIDERS
        if settings.provider not in known:
            raise unknown_provider(settings.provider, sorted(known))
        module = known[settings.provider][0]
        try:
            importlib.import_module(module)
        except ImportError as error:
            raise missing_package(settings, module.split(".")[0].replace("_", "-")) from error
        key = self._key
        if not key and settings.provider in KEYS:
            if not settings.base_url:
                raise missing_key(settings)
            key = "none"  # a server of one's own often wants none
        given: dict[str, Any] = {
            "timeout": settings.timeout,
            "max_retries": settings.retries,
            "max_tokens": settings.longest_answer,
        }
        if key:
            given["api_key"] = key
        if settings.base_url:
            given["base_url"] = settings.base_url
        if settings.provider == "openai":
            from openai import DefaultAsyncHttpxClient

            # Its own would be shared with event loops that have ended.
            given |= {"stream_usage": True, "http_async_client": DefaultAsyncHttpxClient(timeout=settings.timeout)}
        if settings.requests_per_minute:
            from langchain_core.rate_limiters import InMemoryRateLimiter

            given["rate_limiter"] = InMemoryRateLimiter(
                requests_per_second=settings.requests_per_minute / 60, max_bucket_size=1, check_every_n_seconds=0.05
            )
        try:
            opened: BaseChatModel = init_chat_model(settings.model, model_provider=settings.provider, **given)
        except HitlError:
            raise
        except Exception as error:
            raise failure_of(error, settings, self._key) from error
        return opened

    async def ask(
        self,
        told: Told,
        form: Form | None = None,
        on_text: Callable[[str], None] | None = None,
        count: Count | None = None,
    ) -> Answer:
        """Return what the model says to a conversation.

        A form is a tool that has to be called. A server of OpenAI's protocol that takes no notice of that gets each
        further form as the format of its answer.

        Args:
            told: the conversation so far.
            form: what it has to fill in; None for words alone.
            on_text: is told each piece of its words as it comes in; a form that is the answer is no words.
            count: is told what the call used, also where it fails in the middle.

        Raises:
            ModelFailure: it gave no answer; one sentence says why.
        """
        if form is None:
            whole, usage = await self._whole(self.chat, list(told), _sent(told), on_text, count)
            return Answer(text_of(whole), None, usage)
        if self._by_format and self._knows_formats:
            try:
                return await self._formatted(told, form, count)
            except ModelFailure as failure:
                if status_of(failure) not in _UNKNOWN_FORMAT:
                    raise
                self._knows_formats = False
        model: Any = self.chat.bind_tools([dict(form.as_tool())], tool_choice=form.name)
        whole, usage = await self._whole(model, list(told), _sent(told), on_text, count)
        self._by_format = all(chunk["name"] != form.name for chunk in whole.tool_call_chunks)
        return Answer(text_of(whole), _filled(whole, form), usage)

    async def _formatted(self, told: Told, form: Form, count: Count | None) -> Answer:
        model: Any = self.chat.bind(response_format=form.as_format())
        asked = form.told(told)
        whole, usage = await self._whole(model, list(asked), _sent(asked), None, count)
        return Answer(text_of(whole), _filled(whole, form), usage)

    async def converse(
        self,
        messages: Sequence[BaseMessage],
        tools: Sequence[BaseTool],
        on_text: Callable[[str], None] | None = None,
        count: Count | None = None,
    ) -> AIMessageChunk:
        """Return what the model says to messages, with the calls that it makes, as they were written.

        Args:
            messages: the conversation so far.
            tools: what it may call.
            on_text, count: as in `ask`.

        Raises:
            ModelFailure: it gave no answer; one sentence says why.
        """
        model: Any = self.chat.bind_tools(tools) if tools else self.chat
        sent = "\n".join(str(message.content) for message in messages)
        whole, _ = await self._whole(model, list(messages), sent, on_text, count)
        return whole

    async def _whole(
        self, model: Any, messages: list[Any], sent: str, on_text: Callable[[str], None] | None, count: Count | None
    ) -> tuple[AIMessageChunk, Usage]:
        chunks: list[AIMessageChunk] = []
        try:
            async with asyncio.timeout(self.settings.timeout):
                size = 0
                async for chunk in model.astream(messages):
                    chunks.append(chunk)
                    size += len(_said(chunk))
                    self._check_size(size)
                    if on_text is not None and (text := text_of(chunk)):
                        on_text(text)
        except Exception as error:
            if chunks:
                await self._count(count, _merged(chunks), sent)
            if isinstance(error, ModelFailure):
                raise
            raise failure_of(error, self.settings, self._key) from error
        whole = _merged(chunks)
        usage = await self._count(count, whole, sent)
        if whole is None:
            raise ModelFailure(Message("{} gave an empty answer.", self.settings.name))
        if whole.response_metadata.get("finish_reason", whole.response_metadata.get("stop_reason")) in _CUT:
            raise cut_off(self.settings)
        return whole, usage

    def _check_size(self, size: int) -> None:
        if size > LARGEST:
            raise ModelFailure(
                Message("{} gave an answer of more than {} characters.", self.settings.name, f"{LARGEST:,}")
            )

    async def _count(self, count: Count | None, whole: AIMessageChunk | None, sent: str) -> Usage:
        reported: Any = whole.usage_metadata if whole is not None else None
        usage = priced(counted(reported, sent, _said(whole) if whole is not None else ""), self.settings)
        if count is not None:
            await count(usage)
        return usage


def _sent(told: Told) -> str:
    return "\n".join(text for _, text in told)


_CUT = ("length", "max_tokens", "MAX_TOKENS")


def _merged(chunks: list[AIMessageChunk]) -> AIMessageChunk | None:
    return chunks[0] + chunks[1:] if chunks else None


def text_of(message: Any) -> str:
    """Return the words of a message, without what else it holds."""
    content = message.content
    if isinstance(content, str):
        return content
    parts = (p if isinstance(p, str) else p.get("text", "") if p.get("type") == "text" else "" for p in content)
    return "".join(map(str, parts))


def _said(whole: AIMessageChunk) -> str:
    return text_of(whole) + "".join(str(chunk.get("args") or "") for chunk in whole.tool_call_chunks)


def _filled(whole: AIMessageChunk, form: Form) -> dict[str, Any] | None:
    """Return the form as it was filled in: by a call, or written into the text by a server that knows no calls."""
    for chunk in whole.tool_call_chunks:
        if chunk["name"] == form.name:  # as it was written: LangChain mends what is cut off
            return object_of(chunk["args"] or "{}")
    return None if whole.tool_call_chunks else form_in(text_of(whole), form.name, form.schema)
