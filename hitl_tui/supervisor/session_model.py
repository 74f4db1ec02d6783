"""The chat model of a session: which one, what it used, and what it may still spend."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hitl_tui.config.model_settings import NONE, ModelSettings
from hitl_tui.config.sealed_json import check_sealed, write_sealed
from hitl_tui.core.errors import StorageError
from hitl_tui.core.json_text import strict_json
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import mask
from hitl_tui.ledger.protocols import Streams
from hitl_tui.models.failures import BudgetReached, ModelFailure
from hitl_tui.models.usage import Usage, prices_of, tokens_in, unpriced_budget

if TYPE_CHECKING:
    from langchain_core.messages import AIMessageChunk

    from hitl_tui.core.todos import SupervisorTodo
    from hitl_tui.models.chat_model import Answer, ChatModel, Form
    from hitl_tui.planning.agent import Planner
    from hitl_tui.planning.proposals import CurrentPlan, Planned, Proposed

USED, CHOSEN = "model_used", "model_chosen"
"""Kinds of entries of a session's stream: what a call used, and which model or budget a person chose."""
_FILE = "model.json"


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """What a person chose for one session; kept in its folder.

    Args:
        name: the model; empty for the one of the settings.
        budget: dollars; None for the budget of the settings.
        token_budget: tokens; None for that of the settings.
    """

    name: str = ""
    budget: float | None = None
    token_budget: int | None = None

    @classmethod
    def read(cls, folder: Path) -> ModelChoice:
        """Return what is kept in a session's folder.

        Raises:
            StorageError: it can't be read.
        """
        path = folder / _FILE
        try:
            data = strict_json(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return cls()
        except (OSError, ValueError) as error:
            raise StorageError(Message("{} can't be read: {}.", path, error)) from error
        check_sealed(path, data)
        if not isinstance(data, dict):
            raise StorageError(Message("{} can't be read: {}.", path, Message("it holds no object")))
        budget, tokens = data.get("budget"), data.get("token_budget")
        return cls(
            str(data.get("name") or ""),
            None if budget is None else float(budget),
            None if tokens is None else int(tokens),
        )

    def write(self, folder: Path) -> None:
        """Keep it in a session's folder."""
        write_sealed(folder / _FILE, {"name": self.name, "budget": self.budget, "token_budget": self.token_budget})

    def applied(self, settings: ModelSettings) -> ModelSettings:
        """Return the settings with what was chosen.

        Raises:
            BadInput: the name can't be one.
        """
        found = settings.called(self.name) if self.name else settings
        if self.budget is not None:
            found = replace(found, budget=self.budget)
        if self.token_budget is not None:
            found = replace(found, token_budget=self.token_budget)
        return found


@dataclass(frozen=True, slots=True)
class Spending:
    """What a session's model used.

    Args:
        total: all of it.
        by_todo: for each TODO; what no TODO used (planning, the answer) is under an empty id.
    """

    total: Usage = field(default_factory=Usage)
    by_todo: Mapping[str, Usage] = field(default_factory=dict)

    def and_one(self, data: Mapping[str, Any]) -> Spending:
        """Return it with one entry of the record."""
        usage, todo_id = Usage.from_dict(data), str(data.get("todo_id", ""))
        return Spending(self.total + usage, {**self.by_todo, todo_id: self.by_todo.get(todo_id, Usage()) + usage})


class SessionModel:
    """A session's model, opened when it is first asked; it implements `planning.model_planner.FillsForms`.

    Before the session has an id, what it uses is kept until `begin`.

    Args:
        settings: which model, as the settings say.
        environ: where its key is.
        record: where what it used is written.
        secrets: declared secrets, by name: the model gets the names.
        now: the clock.
    """

    def __init__(
        self,
        settings: ModelSettings,
        environ: Mapping[str, str] | None,
        record: Streams,
        secrets: Mapping[str, str],
        now: Callable[[], str],
    ) -> None:
        self._declared = settings
        self._environ = os.environ if environ is None else environ
        self._record = record
        self._secrets = secrets
        self._now = now
        self._session = ""
        self._folder: Path | None = None
        self._seen = 0
        self._spending = Spending()
        self._unwritten: list[JsonObject] = []
        self._reserved = 0
        self._reserved_cost = 0.0
        self._opened: tuple[ModelSettings, ChatModel] | None = None
        self._opening = asyncio.Lock()
        self.memory: dict[str, Planned] = {}

    async def begin(self, session: str, folder: Path) -> None:
        """Have an id from now on; what was used before counts for it."""
        self.bind(session, folder)
        for entry in self._unwritten:
            await self._record.record(session, USED, entry, self._now())
        self._unwritten.clear()

    def bind(self, session: str, folder: Path) -> None:
        """Belong to a session that exists."""
        self._session, self._folder = session, folder

    @property
    def settings(self) -> ModelSettings:
        """What counts now: what a person chose for the session, else the settings.

        Raises:
            HitlError: what was chosen can't be read.
        """
        choice = ModelChoice.read(self._folder) if self._folder is not None else ModelChoice()
        found = choice.applied(self._declared)
        return found if found.name != NONE else replace(found, name="")

    @property
    def name(self) -> str:
        """What the model is called; empty for none."""
        return self.settings.name

    @property
    def proposals(self) -> bool:
        return self.settings.proposals

    async def choose(self, choice: ModelChoice, by: str) -> None:
        """Have another model, or another budget, from now on; it is on record.

        Raises:
            HitlError: the model can't be opened; everything stays as it was.
        """
        assert self._folder is not None
        settings = choice.applied(self._declared)
        if settings.name not in ("", NONE):
            await self._chat(settings)
        await asyncio.to_thread(choice.write, self._folder)
        data: JsonObject = {"by": by, "name": choice.name, "budget": choice.budget, "token_budget": choice.token_budget}
        await self._record.record(self._session, CHOSEN, data, self._now())

    @property
    def choice(self) -> ModelChoice:
        """What was chosen for the session."""
        return ModelChoice.read(self._folder) if self._folder is not None else ModelChoice()

    async def spending(self) -> Spending:
        """Return what the session's model used until now."""
        while self._session and (page := await self._record.entries(self._session, self._seen, 500)):
            for entry in page:
                if entry.kind == USED:
                    self._spending = self._spending.and_one(entry.data)
            self._seen = page[-1].n
        found = self._spending
        for data in self._unwritten:
            found = found.and_one(data)
        return found

    async def said(self) -> Message:
        """Return in a sentence which model it is, what it used and may use; without one how to have one."""
        settings, used = self.settings, (await self.spending()).total.said
        if not settings.name:
            return Message("No model: plans are made by rules. To use one: /model openai:gpt-5-mini")
        limits: list[str] = []
        if settings.budget:
            limits.append(f"${settings.budget:g}")
        if settings.token_budget:
            limits.append(Message("{} tokens", f"{settings.token_budget:,}"))
        if not limits:
            return Message("The model is {}; it used {}.", settings.name, used)
        if len(limits) == 1:
            said = Message("The model is {}; it used {} of {}.", settings.name, used, limits[0])
        else:
            said = Message("The model is {}; it used {} of {} and {}.", settings.name, used, *limits)
        unpriced = unpriced_budget(settings)
        return Message("{} {}", said, unpriced) if unpriced is not None else said

    async def document(self) -> JsonObject:
        """Return the same as JSON, with what each step used; what no step used is under `planning`."""
        settings, spending = self.settings, await self.spending()
        return {
            "model": settings.name or NONE,
            "budget": settings.budget,
            "token_budget": settings.token_budget,
            "used": spending.total.to_dict(),
            "used_by": {todo_id or "planning": usage.to_dict() for todo_id, usage in spending.by_todo.items()},
        }

    async def used_by(self, todo_id: str) -> Usage | None:
        """Return what was used for a TODO; None for nothing."""
        return (await self.spending()).by_todo.get(todo_id)

    async def fill(
        self, told: Sequence[tuple[str, str]], name: str, description: str, schema: JsonObject, *, todo_id: str = ""
    ) -> tuple[dict[str, Any] | None, str]:
        """Return a form as the model filled it in; see `FillsForms.fill`."""
        from hitl_tui.models.chat_model import Form

        answer = await self.ask(told, Form(name, description, schema), todo_id=todo_id)
        return answer.filled, answer.text

    async def ask(self, told: Sequence[tuple[str, str]], form: Form | None = None, *, todo_id: str = "") -> Answer:
        """Return what the model says to a conversation.

        Raises:
            BudgetReached: it could pass the budget.
            ModelFailure: it gave no answer, or the budget is in money and nobody knows what a call costs.
            HitlError: it can't be opened.
        """
        settings = self.settings
        told = [(role, mask(text, self._secrets)) for role, text in told]
        sent = sum(tokens_in(text) for _, text in told) + (tokens_in(json.dumps(form.schema)) if form else 0)
        chat = await self._chat(settings)
        async with self.reserved(sent, settings):
            return await chat.ask(told, form, count=lambda usage: self.note(usage, todo_id))

    async def converse(
        self, messages: Sequence[Any], tools: Sequence[Any], todo_id: str, on_text: Callable[[str], None]
    ) -> AIMessageChunk:
        """Return what the model says to LangChain's messages; see `teams.contract.TeamModel`."""
        settings = self.settings
        chat = await self._chat(settings)
        sent = sum(tokens_in(f"{message.content}{getattr(message, 'tool_calls', '')}") for message in messages)
        sent += sum(tokens_in(json.dumps(tool.args)) + tokens_in(tool.description) for tool in tools)
        async with self.reserved(sent, settings):
            return await chat.converse(messages, tools, on_text, lambda usage: self.note(usage, todo_id))

    async def raise_budget(self) -> None:
        """Allow the session as much again as its settings do; see `teams.contract.TeamModel`."""
        now, declared, choice = self.settings, self._declared, self.choice
        if now.budget:
            choice = replace(choice, budget=now.budget + (declared.budget or now.budget))
        if now.token_budget:
            choice = replace(choice, token_budget=now.token_budget + (declared.token_budget or now.token_budget))
        await self.choose(choice, "operator")

    def reserved(self, sent: int, settings: ModelSettings | None = None) -> _Reservation:
        """Return what keeps room in the budget for a call of so many tokens, while it lasts.

        Raises, where it is entered:
            BudgetReached: the longest answer to it could pass the budget.
            ModelFailure: the budget is in money, and nobody knows what a call costs.
        """
        return _Reservation(self, sent, settings or self.settings)

    async def note(self, usage: Usage, todo_id: str = "") -> None:
        """Write what a call used."""
        data: JsonObject = {"todo_id": todo_id, "model": self.settings.name, **usage.to_dict()}
        if self._session:
            await self._record.record(self._session, USED, data, self._now())
        else:
            self._unwritten.append(data)

    async def _chat(self, settings: ModelSettings) -> ChatModel:
        async with self._opening:
            if self._opened is None or self._opened[0] != settings:
                self._opened = settings, await asyncio.to_thread(self._open, settings)
            return self._opened[1]

    def _open(self, settings: ModelSettings) -> ChatModel:
        from hitl_tui.models.chat_model import ChatModel

        return ChatModel(settings, self._environ)


class _Reservation:
    """Room in a session's budget for one call."""

    def __init__(self, model: SessionModel, sent: int, settings: ModelSettings) -> None:
        self._model = model
        self._settings = settings
        self._tokens = sent + settings.longest_answer
        prices = prices_of(settings) if settings.budget else None
        self._cost = (sent * prices.input + settings.longest_answer * prices.output) / 1e6 if prices else 0.0

    async def __aenter__(self) -> None:
        model, settings = self._model, self._settings
        if unpriced := unpriced_budget(settings):
            raise ModelFailure(unpriced)
        if settings.budget or settings.token_budget:
            total = (await model.spending()).total
            cost = total.cost + model._reserved_cost + self._cost
            tokens = total.tokens + model._reserved + self._tokens
            if settings.budget and cost > settings.budget:
                raise BudgetReached(
                    Message(
                        "The next call could cost ${} and pass this session's budget of ${}; ${} is spent.",
                        f"{self._cost:.4f}",
                        f"{settings.budget:g}",
                        f"{total.cost:.4f}",
                    ),
                    help=Message("To allow more: /model budget {}", f"{max(settings.budget * 2, cost):.2f}"),
                )
            if settings.token_budget and tokens > settings.token_budget:
                raise BudgetReached(
                    Message(
                        "The next call could use {} tokens and pass this session's budget of {}; {} are used.",
                        f"{self._tokens:,}",
                        f"{settings.token_budget:,}",
                        f"{total.tokens:,}",
                    ),
                    help=Message("To allow more: /model tokens {}", max(settings.token_budget * 2, tokens)),
                )
        model._reserved += self._tokens
        model._reserved_cost += self._cost

    async def __aexit__(self, *error: object) -> None:
        self._model._reserved -= self._tokens
        self._model._reserved_cost -= self._cost


@dataclass(frozen=True, slots=True)
class ChosenPlanner:
    """Plans with the session's model while it has one, else by the rules.

    Args:
        rules: plans without a model.
        model: the session's model.
        with_model: makes what plans with it.
    """

    rules: Planner
    model: SessionModel
    with_model: Callable[[], Planner]

    async def plan(self, query: str, agents: Mapping[str, Any]) -> Planned:
        return await self._now().plan(query, agents)

    async def revise(self, text: str, plan: CurrentPlan) -> Proposed:
        return await self._now().revise(text, plan)

    async def follow_up(self, todo: SupervisorTodo, result: JsonObject, plan: CurrentPlan) -> Proposed | None:
        return await self._now().follow_up(todo, result, plan)

    def _now(self) -> Planner:
        return self.with_model() if self.model.name else self.rules
