"""Every chat command, once: parser, completion, palette, `/help`, the table in docs and `--json` come from here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from types import MappingProxyType

from hitl_tui.core.messages import Message


class Takes(StrEnum):
    """What an argument is; completers and checks go by it."""

    TODO = Message("step id")
    REMOVED = Message("id of a removed step")
    QUESTION = Message("question id")
    TASK = Message("task id")
    STATUS = Message("status")
    PRIORITY = Message("priority")
    AGENT = Message("agent")
    WHERE = "before|after"
    CHECKPOINT = Message("checkpoint id")
    PROPOSAL = Message("proposal id")
    MODE = "step|plan|risk"
    COMMAND = Message("command")
    NUMBER = Message("number")
    NODE = Message("node")
    SESSION = Message("session id")
    THEME = "theme"
    VIEW = "undo"
    DIGEST = "digest"
    FILE = Message("file name")
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a command.

    Args:
        name: key of its value.
        takes: what it is.
        required: it has to be given.
        many: takes all words that are left; with `TEXT` and `FILE` the rest of the line as it was written.
    """

    name: str
    takes: Takes
    required: bool = True
    many: bool = False

    @property
    def whole(self) -> bool:
        """It is the rest of the line as it was written."""
        return self.many and self.takes in (Takes.TEXT, Takes.FILE)

    @property
    def usage(self) -> str:
        word = str(self.takes) if self.takes in (Takes.WHERE, Takes.MODE, Takes.VIEW) else self.name
        word = f"{word}…" if self.many and not self.whole else word
        if not self.required:
            return f"[{word}]"
        return word if self.takes is Takes.WHERE else f"<{word}>"


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """One chat command.

    Args:
        name: without the slash: `todo approve`.
        summary: one line of help.
        arguments: in order.
        options: `--name` arguments, with values.
        aliases: other names.
        verbatim: its text is for others and may hold what looks like an option: only what ends it counts as one.
        changes: it may change the session; what doesn't only looks. See `Parsed.changes`.
        shows_without: the argument or option without which it only looks, too; empty for none.
        local: interfaces carry it out themselves (`/new`, `/quit`).
        screen: only the console does, for it is about what is on the screen.
    """

    name: str
    summary: str
    arguments: tuple[Argument, ...] = ()
    options: tuple[Argument, ...] = ()
    aliases: tuple[str, ...] = ()
    verbatim: bool = False
    changes: bool = True
    shows_without: str = ""
    local: bool = False
    screen: bool = False

    @property
    def usage(self) -> str:
        """`/todo skip <id> [reason]`"""
        parts = [f"/{self.name}", *(a.usage for a in self.arguments)]
        parts += [f"[--{o.name} {o.name.upper()}{'…' if o.many else ''}]" for o in self.options]
        return " ".join(parts)


_ID = Argument("id", Takes.TODO)
_ANY = Argument("id", Takes.TODO, required=False)
_REASON = Argument("reason", Takes.TEXT, required=False, many=True)
_DIGEST = Argument("digest", Takes.DIGEST, required=False)

SPECS: tuple[CommandSpec, ...] = (
    CommandSpec("todos", "Show the plan: every step, counts, the current one", changes=False, aliases=("todo list",)),
    CommandSpec(
        "todo approve",
        "Approve steps; without an id, only the current one",
        (Argument("id", Takes.TODO, required=False, many=True),),
        (_DIGEST,),
    ),
    CommandSpec(
        "todo reject", "Reject a step; what depends on it is blocked", (_ID, _REASON), (_DIGEST,), verbatim=True
    ),
    CommandSpec("todo skip", "Skip a step and continue without it", (_ID, _REASON), (_DIGEST,), verbatim=True),
    CommandSpec(
        "todo add",
        "Add a step for an agent, or for a declared command",
        (Argument("agent", Takes.AGENT), Argument("text", Takes.TEXT, required=False, many=True)),
        (
            Argument("after", Takes.TODO, required=False, many=True),
            Argument("priority", Takes.PRIORITY, required=False),
        ),
    ),
    CommandSpec(
        "todo edit",
        "Change a step's exact input (text, name=value or JSON); it asks for approval again",
        (_ID, Argument("input", Takes.TEXT, many=True)),
    ),
    CommandSpec("todo update", "Set a step's status", (_ID, Argument("status", Takes.STATUS)), (_DIGEST,)),
    CommandSpec("todo remove", "Remove a step that never started", (_ID,)),
    CommandSpec("todo putback", "Put a removed step back into the plan", (Argument("id", Takes.REMOVED),)),
    CommandSpec("todo priority", "Set a step's priority", (_ID, Argument("level", Takes.PRIORITY))),
    CommandSpec(
        "todo move",
        "Move a step in the order",
        (_ID, Argument("where", Takes.WHERE), Argument("anchor", Takes.TODO)),
    ),
    CommandSpec("todo retry", "Retry a failed step", (_ID,), (_DIGEST,)),
    CommandSpec("todo cancel", "Stop a running step", (_ID,)),
    CommandSpec("todo done", "Confirm that an effect in doubt did happen", (_ID,), (_DIGEST,)),
    CommandSpec("todo again", "Do an effect in doubt again", (_ID,), (_DIGEST,)),
    CommandSpec("todo show", "Show a step in full, with its result", (_ID,), changes=False),
    CommandSpec(
        "answer",
        "Answer what a team asks while it runs: approve, reject WHY, edit NAME=VALUE, an option, JSON or text",
        (Argument("id", Takes.QUESTION), Argument("value", Takes.TEXT, many=True)),
        (_DIGEST,),
        verbatim=True,
    ),
    CommandSpec(
        "approve",
        "Approve the step of an agent's task that waits; the value goes to the agent",
        (Argument("task", Takes.TASK), Argument("value", Takes.TEXT, required=False, many=True)),
        verbatim=True,
    ),
    CommandSpec(
        "reject",
        "Reject the step of an agent's task that waits; the task ends",
        (Argument("task", Takes.TASK), _REASON),
        verbatim=True,
    ),
    CommandSpec(
        "plan approve",
        "Approve the plan so that it starts (mode plan)",
        (Argument("id", Takes.QUESTION, required=False),),
        (_DIGEST,),
    ),
    CommandSpec(
        "plan reject",
        "Send the plan back with feedback; without feedback, drop it",
        (Argument("feedback", Takes.TEXT, required=False, many=True),),
        (_DIGEST,),
        verbatim=True,
    ),
    CommandSpec(
        "proposal accept",
        "Accept a proposed change to the plan",
        (Argument("id", Takes.PROPOSAL, required=False),),
        (_DIGEST,),
    ),
    CommandSpec(
        "proposal run",
        "Accept a proposed change to the plan, and let the steps of low risk that it adds run",
        (Argument("id", Takes.PROPOSAL, required=False),),
        (_DIGEST,),
    ),
    CommandSpec(
        "proposal reject",
        "Reject a proposed change to the plan",
        (Argument("id", Takes.PROPOSAL, required=False), _REASON),
        (_DIGEST,),
        verbatim=True,
    ),
    CommandSpec(
        "proposal keep",
        "Accept only some changes of a proposal, by their numbers; the others are left out",
        (Argument("id", Takes.PROPOSAL), Argument("numbers", Takes.NUMBER, many=True)),
        (_DIGEST,),
    ),
    CommandSpec(
        "decisions",
        "Show who decided what, when and why",
        changes=False,
        aliases=("history", "audit"),
    ),
    CommandSpec(
        "checkpoint list",
        "Show the session's checkpoints, or with --todo the steps of its team, newest first",
        (),
        (
            Argument("limit", Takes.NUMBER, required=False),
            Argument("before", Takes.CHECKPOINT, required=False),
            Argument("todo", Takes.TODO, required=False),
        ),
        changes=False,
    ),
    CommandSpec(
        "checkpoint restore",
        "Restore a checkpoint, or let a team continue from one of its steps; nothing runs before you approve",
        (Argument("id", Takes.CHECKPOINT),),
    ),
    CommandSpec("graph", "Draw an attached graph and show where it is now", (_ANY,), changes=False),
    CommandSpec("state show", "Show the state of an attached graph", (_ANY,), changes=False),
    CommandSpec(
        "state edit",
        "Change fields of its current state (JSON); checked first, and you are asked before it continues",
        (_ID, Argument("update", Takes.TEXT, many=True)),
    ),
    CommandSpec(
        "state diff",
        "Show how its state differs from the step before, or from another step",
        (_ANY,),
        (Argument("checkpoint", Takes.CHECKPOINT, required=False),),
        changes=False,
    ),
    CommandSpec(
        "break",
        "Stop an attached graph before or after nodes; * means every node",
        (Argument("where", Takes.WHERE), Argument("nodes", Takes.NODE, many=True)),
        (Argument("todo", Takes.TODO, required=False),),
    ),
    CommandSpec("unbreak", "Remove its breakpoints", (_ANY,)),
    CommandSpec("step", "Continue from a breakpoint to the next node", (_ANY,), (_DIGEST,)),
    CommandSpec("continue", "Continue from a breakpoint to the next question", (_ANY,), (_DIGEST,)),
    CommandSpec("rescue", "Go back to before the answer that made a graph fail", (_ANY,)),
    CommandSpec(
        "mode",
        "Show or set when you are asked",
        (Argument("mode", Takes.MODE, required=False),),
        shows_without="mode",
    ),
    CommandSpec(
        "model",
        "Show or set the model: provider:name, none, budget DOLLARS, tokens NUMBER",
        (Argument("choice", Takes.TEXT, required=False, many=True),),
        shows_without="choice",
    ),
    CommandSpec("template list", "List the plan templates", changes=False, aliases=("templates",)),
    CommandSpec("template show", "Show a plan template", (Argument("name", Takes.TEXT, many=True),), changes=False),
    CommandSpec(
        "template save",
        "Save the plan as a template; name=value makes a parameter of a value in it",
        (Argument("name", Takes.TEXT), Argument("values", Takes.TEXT, required=False, many=True)),
    ),
    CommandSpec(
        "template run",
        "Propose the steps of a template, with name=value for its parameters",
        (Argument("name", Takes.TEXT, many=True),),
    ),
    CommandSpec(
        "trust",
        "Show what the folder wants to run that isn't trusted; trust it when given its digest",
        (),
        (_DIGEST,),
        shows_without="digest",
    ),
    CommandSpec(
        "rules list",
        "Show what is always allowed, and what hitl.toml says; `/rules` does the same",
        changes=False,
        aliases=("rules",),
    ),
    CommandSpec(
        "rules allow",
        "Always allow exactly what a step asks for: shows the rule, and saves it when given the question's digest",
        (_ID,),
        (_DIGEST,),
        shows_without="digest",
    ),
    CommandSpec(
        "rules edit",
        "Change how long a rule applies (8h, 2030-01-31, never), or make it apply to any input",
        (Argument("n", Takes.NUMBER),),
        (
            Argument("until", Takes.TEXT, required=False),
            Argument("input", Takes.TEXT, required=False),
        ),
    ),
    CommandSpec("rules revoke", "Revoke a rule; what it allowed asks again", (Argument("n", Takes.NUMBER),)),
    CommandSpec("reset", "Give the starter of this session its files back, as they were at the start"),
    CommandSpec("title", "Rename the session", (Argument("title", Takes.TEXT, many=True),), aliases=("rename",)),
    CommandSpec(
        "export",
        "Export the session to one file; to .md or .json, only the answer and the plan",
        (Argument("file", Takes.FILE, many=True),),
        changes=False,
    ),
    CommandSpec(
        "source",
        "List what the answer cites, or open one place in your editor or pager",
        (Argument("n", Takes.NUMBER, required=False),),
        changes=False,
    ),
    CommandSpec(
        "fork",
        "Start another session from this one's current or past state; nothing is executed",
        (Argument("checkpoint", Takes.CHECKPOINT, required=False),),
    ),
    CommandSpec(
        "sessions",
        "List the sessions, or those with all these words in title, questions, steps, answer or folder",
        (Argument("words", Takes.TEXT, required=False, many=True),),
        changes=False,
    ),
    CommandSpec("open", "Switch to another session", (Argument("session", Takes.SESSION),), local=True),
    CommandSpec(
        "import", "Create a session from an exported file", (Argument("file", Takes.FILE, many=True),), changes=False
    ),
    CommandSpec(
        "delete",
        "Show what deleting a session would delete; given its id twice, delete it",
        (Argument("session", Takes.SESSION), Argument("again", Takes.SESSION, required=False)),
        changes=False,
    ),
    CommandSpec("stop", "End the plan: stop what runs and skip what hasn't run", (_ANY,), (_DIGEST,)),
    CommandSpec(
        "help", "Show commands", (Argument("command", Takes.COMMAND, required=False, many=True),), changes=False
    ),
    CommandSpec(
        "as",
        "Run one command as an approver; their token is asked for",
        (Argument("approver", Takes.TEXT), Argument("command", Takes.TEXT, many=True)),
        local=True,
    ),
    CommandSpec(
        "new",
        "Start another session; with no text, on the first screen",
        (Argument("query", Takes.TEXT, required=False, many=True),),
        local=True,
    ),
    CommandSpec("index", "Index the folder now, however large it is, before it is searched", local=True, changes=False),
    CommandSpec(
        "theme",
        "List the themes, or use one from now on",
        (Argument("name", Takes.THEME, required=False),),
        local=True,
        screen=True,
        changes=False,
    ),
    CommandSpec(
        "clear",
        "Empty the stream on the screen, or show all of it again; nothing on record is lost",
        (Argument("undo", Takes.VIEW, required=False),),
        local=True,
        screen=True,
        changes=False,
    ),
    CommandSpec("quit", "Quit; sessions continue when opened again", aliases=("exit",), local=True, changes=False),
)


@cache
def registry() -> Mapping[str, CommandSpec]:
    """Return the commands by name and alias."""
    return MappingProxyType({name: spec for spec in SPECS for name in (spec.name, *spec.aliases)})


def help_table() -> list[tuple[str, str]]:
    """Return usage and summary of each command, for `/help` and docs."""
    return [(spec.usage, spec.summary) for spec in SPECS]
