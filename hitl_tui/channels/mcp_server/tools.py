"""The tools: asking for approval, deciding, and seeing what waits. Nothing here knows MCP's messages."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from hitl_tui.channels.mcp_server.changes import Changes
from hitl_tui.core.errors import BadInput, Refused, UnknownName
from hitl_tui.core.identity import Identity
from hitl_tui.core.interrupts.json_schema import check_against
from hitl_tui.core.json_text import check_storable, names_digest
from hitl_tui.core.json_types import Json, JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.core.names import clip
from hitl_tui.core.policy import Policy
from hitl_tui.core.requests import Verdict
from hitl_tui.core.safe_text import escaped_json, one_line
from hitl_tui.language import _, translate
from hitl_tui.policy.approvers import ApproverFile
from hitl_tui.policy.secrecy import Secrecy
from hitl_tui.task_checkpoints.checkpoint import Checkpoint
from hitl_tui.task_checkpoints.folders import held_policy, register, uses_neo4j
from hitl_tui.task_checkpoints.service import TaskCheckpoints, TaskLedger

CHANNEL = "mcp"
LONGEST_WAIT = 3_600
_LISTED, _MOST = 100, 1_000
_CALL = Message("The call")


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool, as programs are told of it. Descriptions are read by models, so they aren't translated.

    Args:
        name, title, description: what it is.
        takes, gives: schemas of its arguments and of its answer.
        reads: it changes nothing.
    """

    name: str
    title: str
    description: str
    takes: JsonObject
    gives: JsonObject
    reads: bool = False


def _object(properties: Mapping[str, Json], *required: str) -> JsonObject:
    return {"type": "object", "properties": {**properties}, "required": [*required]}


def _closed(properties: Mapping[str, Json], *required: str) -> JsonObject:
    return {**_object(properties, *required), "additionalProperties": False}


_TEXT: JsonObject = {"type": "string"}
_NUMBER: JsonObject = {"type": "integer"}
_CHECKPOINT = _object(
    {
        "checkpoint_id": _TEXT,
        "task_id": _TEXT,
        "step": _NUMBER,
        "action": _TEXT,
        "agent": _TEXT,
        "arguments": {"type": "object", "description": "what a call of a tool would run with"},
        "status": {"enum": ["completed", "interrupted", "rejected"]},
        "outcome": {
            "enum": ["recorded", "waiting", "approved", "rejected", "expired"],
            "description": "how it stands: go on only with recorded or approved",
        },
        "recorded_at": _TEXT,
        "interrupt_message": _TEXT,
        "interrupt_at": _TEXT,
        "request_id": _TEXT,
        "digest": {"type": "string", "description": "digest of what is approved"},
        "risk": _TEXT,
        "deadline": {"type": "string", "description": "when it expires; empty for never"},
        "votes": _NUMBER,
        "value": {"description": "what those who approved so far give along; others approve the same value"},
        "quorum": {"type": "integer", "description": "how many people have to approve"},
        "level": _NUMBER,
        "resume_value": {"description": "what the approver gave along with the approval"},
        "resumed_at": _TEXT,
        "rejected_at": _TEXT,
        "reason": _TEXT,
        "expired": {"type": "boolean"},
        "ruled": {"type": "object", "description": "the rule that decided, where nobody was asked"},
        "by": {"type": "array", "items": _TEXT},
    },
    "checkpoint_id",
    "task_id",
    "step",
    "action",
    "agent",
    "status",
    "outcome",
    "recorded_at",
)
_WHICH: Mapping[str, Json] = {
    "checkpoint_id": {"type": "string", "description": "the step, by the id that masc_interrupt and masc_pending give"},
    "task_id": {"type": "string", "description": "the task, instead of checkpoint_id"},
    "step": {"type": "integer", "description": "the task's step; without it the only one that waits"},
}
_DIGEST: JsonObject = {
    "type": "string",
    "description": "digest of what you were shown, or its first 8 characters and more; needed with task_id",
}
_DECIDED = _object(
    {
        "outcome": {"enum": ["waiting", "approved", "rejected"]},
        "needed": {"type": "integer", "description": "how many more people have to approve"},
        "message": _TEXT,
        "checkpoint": _CHECKPOINT,
    },
    "outcome",
    "needed",
    "message",
    "checkpoint",
)

TOOLS = (
    Tool(
        "masc_interrupt",
        "Ask people for approval",
        "Stop before a dangerous step and ask people for approval. Returns at once; the step waits. Don't do the step "
        "before masc_pending says that it is approved. A rejection ends the task. The same call again asks nobody "
        "twice: it returns the step as it stands.",
        _closed(
            {
                "task_id": {
                    "type": "string",
                    "description": "name of your task: letters, digits, . - _ : @ + and spaces",
                },
                "step": {"type": "integer", "description": "number of the step, higher than all before in this task"},
                "action": {"type": "string", "description": "exactly what the step does, such as the SQL statement"},
                "agent": {"type": "string", "description": "your name; who asks can't approve"},
                "message": {
                    "type": "string",
                    "description": "what people have to know, such as: Deletes 10,000 records",
                },
            },
            "task_id",
            "step",
            "action",
            "agent",
            "message",
        ),
        _object(
            {
                "waiting_for_approval": {"type": "boolean"},
                "checkpoint_id": _TEXT,
                "message": _TEXT,
                "masc_dir": {"type": "string", "description": "folder for masc-checkpoint --masc-dir"},
                "checkpoint": _CHECKPOINT,
            },
            "waiting_for_approval",
            "checkpoint_id",
            "message",
            "masc_dir",
            "checkpoint",
        ),
    ),
    Tool(
        "masc_approve",
        "Approve a step",
        "Approve a step that waits. Takes an approver's token in the configuration of this connection; agents that "
        "ask don't have one.",
        _closed(
            {
                **_WHICH,
                "digest": _DIGEST,
                "value": {"description": "any JSON that the agent gets with the approval"},
                "reason": {"type": "string", "description": "a remark for the record"},
            }
        ),
        _DECIDED,
    ),
    Tool(
        "masc_reject",
        "Reject a step",
        "Reject a step that waits, and with it its task. Takes an approver's token in the configuration of this "
        "connection; agents that ask don't have one.",
        _closed(
            {**_WHICH, "digest": _DIGEST, "reason": {"type": "string", "description": "why; the agent is told"}},
            "reason",
        ),
        _DECIDED,
    ),
    Tool(
        "masc_pending",
        "See what waits",
        "List the steps that wait for approval, what expires first on top. With checkpoint_id or task_id, only how "
        "that step or all steps of that task stand; with wait_seconds, answer as soon as that step is decided.",
        _closed(
            {
                **_WHICH,
                "wait_seconds": {
                    "type": "number",
                    "minimum": 0,
                    "maximum": LONGEST_WAIT,
                    "description": "how long to wait for a decision; mind the time limit of your own client",
                },
                "limit": {"type": "integer", "minimum": 0, "maximum": _MOST, "description": f"default: {_LISTED}"},
            }
        ),
        _object(
            {
                "count": {"type": "integer", "description": "how many wait, of what was named or in all"},
                "pending": {"type": "array", "items": _CHECKPOINT},
                "checkpoints": {"type": "array", "items": _CHECKPOINT, "description": "what was named, decided or not"},
                "masc_dir": _TEXT,
            },
            "count",
            "pending",
            "checkpoints",
            "masc_dir",
        ),
        reads=True,
    ),
)
BY_NAME: Mapping[str, Tool] = MappingProxyType({one.name: one for one in TOOLS})


class TaskTools:
    """Carries the tools out, all of them through `TaskCheckpoints`.

    Args:
        ledger: the store.
        masc: the `.masc` folder.
        data: the data folder.
        secrecy: what is masked.
        changes: follows that store.
    """

    def __init__(self, ledger: TaskLedger, masc: Path, data: Path, secrecy: Secrecy, changes: Changes) -> None:
        self._ledger, self._masc, self._data = ledger, masc, data
        self._secrecy, self._changes = secrecy, changes
        self._tasks = self._under(Policy())
        self._functions: Mapping[str, Callable[[JsonObject, Identity | None], Any]] = {
            "masc_interrupt": self._interrupt,
            "masc_approve": self._approve,
            "masc_reject": self._reject,
            "masc_pending": self._pending,
        }

    async def call(self, name: str, arguments: JsonObject, who: Identity | None) -> JsonObject:
        """Carry a tool out.

        Args:
            name: one of `BY_NAME`.
            arguments: what it is given.
            who: the approver who calls; None for an agent.

        Raises:
            HitlError: it can't be done; nothing was changed.
        """
        check_storable(arguments)
        check_against(BY_NAME[name].takes, arguments, _CALL)
        found: JsonObject = await self._functions[name](arguments, who)
        return self.masked(found)

    def masked(self, document: JsonObject) -> JsonObject:
        """Return a document with the names of secrets."""
        return self._secrecy.mask_json(document, document_text(document))

    async def show(self, checkpoint_id: str, who: Identity | None) -> JsonObject:
        """Return a step as a document.

        Raises:
            UnknownName: there is none of that id.
        """
        step = await self._tasks.of_id(checkpoint_id)
        await self._note_shown([step], who)
        return self.masked(document_of(step))

    # -------------------------------------------------------------------------------------------------- of its own

    async def _interrupt(self, given: JsonObject, who: Identity | None) -> JsonObject:
        if who is not None:
            raise Refused(
                Message(
                    "This connection decides, as {}, so it can't ask; agents ask over one without an approver's token.",
                    who.name,
                ),
                reason="not_allowed",
            )
        tasks = self._under(held_policy(self._masc, self._data))
        texts = [str(given[key]) for key in ("action", "agent", "message")]
        step = await tasks.record(str(given["task_id"]), _number(given["step"]), *texts, again=True)
        register(self._data, self._masc)
        if step.denied is not None:
            raise Refused(step.denied, reason="denied")
        said = {
            "waiting": _("Wait: {name} needs approval. Go on only once masc_pending says that it is approved."),
            "approved": _("{name} was asked before and is approved. Do it now, unless you did it already."),
            "rejected": _("{name} was asked before and is rejected. Don't do it; its task has ended."),
            "expired": _("{name} was asked before and nobody decided in time. Don't do it; its task has ended."),
        }
        return {
            "waiting_for_approval": step.outcome == "waiting",
            "checkpoint_id": step.id,
            "message": said[step.outcome].format(name=step.name),
            "masc_dir": str(self._masc),
            "checkpoint": document_of(step),
        }

    async def _approve(self, given: JsonObject, who: Identity | None) -> JsonObject:
        return await self._decide(given, who, Verdict.APPROVE, given.get("value"))

    async def _reject(self, given: JsonObject, who: Identity | None) -> JsonObject:
        if not str(given["reason"]).strip():
            raise BadInput(Message("A rejection needs a reason: the agent is told why."))
        return await self._decide(given, who, Verdict.REJECT, None)

    async def _decide(self, given: JsonObject, who: Identity | None, verdict: Verdict, value: Json) -> JsonObject:
        if who is None:
            raise Refused(
                Message(
                    "This connection asks and can't decide: that takes an approver's token, which agents aren't given."
                ),
                reason="not_allowed",
            )
        named = await self._named(given)
        step = await self._tasks.the_waiting(named.task_id, named.step)
        seen, digest = str(given.get("digest", "")), step.view.request.digest if step.view else ""
        if seen and not names_digest(seen, digest):
            raise Refused(
                Message("The question changed since it was shown; read it again, then decide."), reason="stale"
            )
        if step.edited is not None and not seen and verdict is Verdict.APPROVE:  # its checkpoint_id is as old as it
            raise Refused(
                Message("{} was edited since it was asked; give the digest of what you were shown.", step.name),
                reason="digest",
            )
        if seen or "checkpoint_id" in given:  # who has one of them was shown what it names
            await self._note_shown([step], who)
        elif verdict is Verdict.APPROVE:
            raise Refused(
                Message("{} is high-risk; give the checkpoint_id or digest of what you were shown.", step.name),
                reason="digest",
            )
        lets = verdict is Verdict.APPROVE
        tasks = self._under(held_policy(self._masc, self._data)) if lets else self._tasks
        done = await tasks.decide(
            step, verdict, who, CHANNEL, reason=str(given.get("reason", "")), value=value, seen=digest
        )
        return {
            "outcome": done.outcome,
            "needed": done.needed,
            "message": translate(done.decision_words(verdict)),
            "checkpoint": document_of(done),
        }

    def _under(self, policy: Policy) -> TaskCheckpoints:
        """Return the tasks, under the rules that hold now, with the votes of those who are approvers now."""
        approvers = ApproverFile(self._data, elsewhere=uses_neo4j(os.environ))
        return TaskCheckpoints(self._ledger, policy, secrecy=self._secrecy, approvers=approvers)

    async def _pending(self, given: JsonObject, who: Identity | None) -> JsonObject:
        named = await self._looked_up(given)
        # Of other agents nothing is told to one that asks about its own: what they say is no instruction to it.
        asked = [one for one in named if one.outcome == "waiting"] if named else await self._tasks.waiting()
        waiting = sorted(asked, key=lambda one: one.view.request.urgency if one.view else ())
        listed = waiting[: _number(given.get("limit", _LISTED))]
        await self._note_shown([*listed, *named], who)
        return {
            "count": len(waiting),
            "pending": [document_of(one) for one in listed],
            "checkpoints": [document_of(one) for one in named],
            "masc_dir": str(self._masc),
        }

    async def _looked_up(self, given: JsonObject) -> list[Checkpoint]:
        """Return the steps that are asked about, once the one that is waited for is decided or the time is up."""
        which, seconds = given.keys() & _WHICH.keys(), cast(float, given.get("wait_seconds", 0))
        if not which and not seconds:
            return []
        waited = [await self._changes.wait(await self._named(given), seconds)] if seconds else []
        if which == {"task_id"} and (steps := await self._tasks.steps(str(given["task_id"]))):
            return steps
        return waited or [await self._named(given)]

    async def _named(self, given: JsonObject) -> Checkpoint:
        """Return the step that a call names.

        Raises:
            BadInput: it names none, or two.
            UnknownName: there is none of that name.
        """
        step = _number(given["step"]) if "step" in given else None
        if "task_id" in given:
            found = await self._tasks.the_step(str(given["task_id"]), step)
        elif "checkpoint_id" in given:
            found = await self._tasks.of_id(str(given["checkpoint_id"]))
        else:
            raise BadInput(Message("Name the step: give checkpoint_id or task_id."))
        if given.get("checkpoint_id", found.id) != found.id or step not in (None, found.step):
            shown = one_line(clip(str(given.get("checkpoint_id", ""))), 80)
            raise UnknownName(Message("{} isn't the checkpoint_id of the step that is named beside it.", shown))
        return found

    async def _note_shown(self, steps: list[Checkpoint], who: Identity | None) -> None:
        """Note that steps are shown to an approver; what an agent sees is shown to nobody who could decide."""
        for one in steps if who is not None else ():
            if one.outcome == "waiting":
                await self._tasks.was_shown(one, who.name if who else "", CHANNEL)


def _number(value: Json) -> int:
    return int(cast(float, value))


def document_of(step: Checkpoint) -> JsonObject:
    """Return a step as programs get it."""
    fields = step.to_dict()
    return {"checkpoint_id": fields.pop("id"), "outcome": step.outcome, **fields}


def document_text(document: Mapping[str, Json]) -> str:
    """Return a document as text that moves or hides nothing on a terminal."""
    return escaped_json(json.dumps(document, ensure_ascii=False, allow_nan=False))
